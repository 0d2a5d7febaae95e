import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { accountBalance } from '#http/tokenpay/token-order.schemas.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import type { TokenRune } from '#tokenpay/order/token-order.ts';
import { balanceAnswer, tokenNames } from '#tokenpay/telling/token-order-answer.ts';

const etched = (asset: number, name: string, divisibility: number): TokenRune => ({
  asset,
  etching: asTxid(new Uint8Array(32).fill(asset)),
  name,
  divisibility,
});
const runes = new Map(
  [etched(1, 'GOODS', 2), etched(2, 'OTHER', 0), etched(3, 'GOODS', 2)].map((rune) => [rune.asset, rune]),
);

/** The response, as a client reads it. */
const answered = (
  ...balances: readonly (readonly [asset: number, amount: bigint, reserved?: bigint])[]
): unknown =>
  JSON.parse(
    JSON.stringify(
      balanceAnswer(
        balances.map(([asset, amount, reserved = 0n]) => ({ asset, amount, reserved })),
        runes,
      ),
    ),
  );

test('two runes of one name are two balances, in any order of arrival', () => {
  const both = { rune: { GOODS: 1.5, OTHER: 7, [`GOODS (etching ${'03'.repeat(32)})`]: 0.25 } };
  expect(answered([1, 150n], [2, 7n], [3, 25n])).toMatchObject(both);
  expect(answered([3, 25n], [2, 7n], [1, 150n])).toMatchObject(both);
  expect(answered([3, 25n])).toMatchObject({ rune: { GOODS: 0.25 } });
});

test('payments of an order have the name of its rune, and a rune that was etched again has its etching', () => {
  const named = (own: number, ...assets: number[]): unknown =>
    Object.fromEntries(tokenNames(assets, runes, runes.get(own) ?? null));
  const again = (asset: number): string => `GOODS (etching 0${asset}${`0${asset}`.repeat(31)})`;
  expect(named(1, 3, 2, 1, 3)).toEqual({ 1: 'GOODS', 2: 'OTHER', 3: again(3) });
  expect(named(3, 1, 3)).toEqual({ 1: again(1), 3: 'GOODS' });
  expect(named(3)).toEqual({ 3: 'GOODS' });
});

test('balances are numbers with all digits, and base units as texts, as the schema has them', () => {
  const most = 2n ** 128n - 1n;
  const answer = balanceAnswer(
    [
      { asset: 0, amount: -12_345n, reserved: 0n },
      { asset: 1, amount: 1_250n, reserved: 50n },
      { asset: 2, amount: most, reserved: most },
    ],
    runes,
  );
  expect(JSON.stringify(answer)).toBe(
    `{"bitcoin":{"BTC":-0.00012345},"rune":{"GOODS":12.5,"OTHER":${most}},"amountBase":{"bitcoin":{"BTC":"-12345"},"rune":{"GOODS":"1250","OTHER":"${most}"}},` +
      `"reserved":{"bitcoin":{"BTC":0},"rune":{"GOODS":0.5,"OTHER":${most}}},"reservedBase":{"bitcoin":{"BTC":"0"},"rune":{"GOODS":"50","OTHER":"${most}"}},` +
      `"available":{"bitcoin":{"BTC":-0.00012345},"rune":{"GOODS":12,"OTHER":0}},"availableBase":{"bitcoin":{"BTC":"-12345"},"rune":{"GOODS":"1200","OTHER":"0"}}}`,
  );
  const schema = Compile(accountBalance);
  expect([...schema.Errors(answered([0, -12_345n], [1, 1_250n], [2, most]))]).toEqual([]);
  const none = { bitcoin: {}, rune: {} };
  expect(answered()).toEqual({
    ...none,
    amountBase: none,
    reserved: none,
    reservedBase: none,
    available: none,
    availableBase: none,
  });
  // the schema lists each field of the response
  expect(Object.keys(answered() as object)).toEqual(Object.keys(accountBalance.properties));
});
