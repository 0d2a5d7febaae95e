import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CoinFrame, chooseCoins } from '#psbts/planning/choose-coins.ts';
import { CoinSupply, type CoinVerdict } from '#psbts/planning/coin-supply.ts';
import { notEnough } from '#psbts/planning/refusal.ts';
import { namedRuns } from '#test/support/property-runs.ts';
import { customerAddress, signerOf } from '#test/support/psbts/customer-address.ts';

const kinds = ['free', 'inscribed', 'runic', 'rare', 'spent', 'unproven'] as const;
type Kind = (typeof kinds)[number];

interface TestCoin {
  readonly value: bigint;
  readonly kind: Kind;
}

const payer = signerOf(customerAddress(70, 'p2wpkh'));
const frame = (charge: bigint, feeRate = 1000n): CoinFrame => ({
  inputs: [],
  outputs: [{ value: charge, script: customerAddress(72).script }],
  payer,
  feeRate,
});

const verdicts: Readonly<Record<Kind, CoinVerdict>> = {
  free: { kind: 'free' },
  inscribed: { kind: 'kept', reason: 'holds an inscription' },
  runic: { kind: 'kept', reason: 'holds runes' },
  rare: { kind: 'kept', reason: 'holds special sats' },
  spent: { kind: 'kept', reason: 'is spent in the mempool' },
  unproven: { kind: 'unproven', reason: 'is not indexed yet' },
};

/** A supply of coins. `looks` has the number of coins that each step examined. */
function supplyOf(coins: readonly TestCoin[]) {
  const looks: number[] = [];
  const supply = new CoinSupply(coins, async (looked: readonly TestCoin[]) => {
    looks.push(looked.length);
    return looked.map(({ kind }) => verdicts[kind]);
  });
  return { supply, looks };
}

test('no more coins are looked at than needed', async () => {
  const many = Array.from(
    { length: 5_000 },
    (_, place): TestCoin => ({
      value: BigInt(1_000 + place),
      kind: 'free',
    }),
  );
  const { supply, looks } = supplyOf(many);
  expect(await supply.choose(frame(10_000n))).toMatchObject({ kind: 'chosen' });
  expect(looks).toEqual([12]);
  await supply.choose(frame(200_000n));
  expect(looks).toEqual([12, 48]);
});

test('coins that were left out are named, after the words that clients show first', async () => {
  const { supply } = supplyOf([
    { value: 9_000n, kind: 'inscribed' },
    { value: 8_000n, kind: 'inscribed' },
    { value: 7_000n, kind: 'runic' },
    { value: 600n, kind: 'free' },
  ]);
  const outcome = await supply.choose(frame(10_000n));
  if (outcome.kind !== 'short') throw new Error(outcome.kind);
  expect(notEnough(outcome).reason).toBe(
    'Not enough cardinal spendable funds.\nAddress has: 600 sats\nNeeded: 10122 sats\nNot spent: 2 (each holds an inscription), 1 (each holds runes)',
  );
});

test('coins that might pay are unproven, not too few', async () => {
  const { supply } = supplyOf([
    { value: 50_000n, kind: 'unproven' },
    { value: 600n, kind: 'free' },
  ]);
  expect(await supply.choose(frame(10_000n))).toEqual({ kind: 'unproven', reason: 'is not indexed yet' });
  // a smaller amount does not need the unproven coins
  expect(await supply.choose(frame(330n, 100n))).toMatchObject({ kind: 'chosen' });
});

test('coins of which only the largest are listed first are chosen as if all were', async () => {
  const value = fc.oneof(fc.bigInt(1n, 1_000n), fc.bigInt(300n, 100_000n));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ value, kind: fc.constantFrom<Kind>(...kinds) }), { minLength: 1, maxLength: 80 }),
      fc.nat(80),
      fc.bigInt(330n, 300_000n),
      async (coins, listed, charge) => {
        const sorted = coins.toSorted((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0));
        const prove = async (looked: readonly TestCoin[]) => looked.map(({ kind }) => verdicts[kind]);
        const whole = new CoinSupply(sorted, prove);
        const others = async () => sorted.slice(listed).toReversed();
        const inParts = new CoinSupply(sorted.slice(0, listed), prove, others);
        expect(await inParts.choose(frame(charge))).toEqual(await whole.choose(frame(charge)));
      },
    ),
    { numRuns: namedRuns(300, 3_000) },
  );
});

test('for random coins: never one that is kept, and the same as from only the free ones', async () => {
  const coin = fc.record({
    value: fc.oneof(fc.bigInt(1n, 1_000n), fc.bigInt(300n, 100_000n)),
    kind: fc.constantFrom<Kind>('free', 'free', ...kinds),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(coin, { maxLength: 80 }),
      fc.bigInt(330n, 300_000n),
      fc.bigInt(100n, 50_000n),
      async (coins, charge, feeRate) => {
        const { supply, looks } = supplyOf(coins);
        const given = frame(charge, feeRate);
        const outcome = await supply.choose(given);
        const free = coins
          .filter(({ kind }) => kind === 'free')
          .toSorted((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0));
        const expected = chooseCoins(free, given, true);
        expect(looks.reduce((sum, look) => sum + look, 0)).toBeLessThanOrEqual(coins.length);
        if (outcome.kind === 'chosen') {
          for (const { kind } of outcome.coins) expect(kind).toBe('free');
          expect(outcome).toEqual(expected);
        } else {
          expect(expected.kind).not.toBe('chosen');
          const isUnknown = coins.some(({ kind }) => kind === 'unproven');
          expect(outcome.kind === 'unproven').toBe(isUnknown);
        }
      },
    ),
    { numRuns: namedRuns(1_000, 10_000) },
  );
});
