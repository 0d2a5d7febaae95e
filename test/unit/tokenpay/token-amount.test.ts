import { expect, test } from 'vitest';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { beyondSupply } from '#tokenpay/token-amount.ts';

const terms = (amount: bigint | null, cap: bigint | null): RuneDetail['terms'] => ({
  amount: amount === null ? null : asU128(amount),
  cap: cap === null ? null : asU128(cap),
  heightStart: null,
  heightEnd: null,
  offsetStart: null,
  offsetEnd: null,
});
const runeOf = (premine: bigint, burned: bigint, of: RuneDetail['terms']): RuneDetail =>
  ({
    rune: asRune(27n ** 3n),
    spacers: 0,
    divisibility: 2,
    premine: asU128(premine),
    burned: asU128(burned),
    terms: of,
  }) as RuneDetail;

const all = 2n ** 128n - 1n;

test.each([
  ['all of it', 1_000n, 0n, null, 1_000n],
  ['what is not burned', 1_000n, 400n, null, 600n],
  ['what can be minted', 1_000n, 0n, terms(5n, 10n), 1_050n],
  ['no mint without an amount', 1_000n, 0n, terms(null, 10n), 1_000n],
  ['no mint without a cap', 1_000n, 0n, terms(5n, null), 1_000n],
  ['all that there can be of any rune', 0n, 0n, terms(1n, all), all],
] as const)('a rune can be requested up to %s', (_name, premine, burned, of, most) => {
  const rune = runeOf(premine, burned, of);
  expect(beyondSupply({ rune, amount: most })).toBeNull();
  expect(beyondSupply({ rune, amount: most + 1n })).toMatchObject({
    kind: 'faulty',
    faults: [{ parameter: 'amount', message: expect.stringContaining('no one can pay it') as string }],
  });
});
