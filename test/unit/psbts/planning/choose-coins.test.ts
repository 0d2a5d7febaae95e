import fc from 'fast-check';
import { expect, test } from 'vitest';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { asBlockHashHex, asTxid } from '#kernel/primitives/hash.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { type ChosenCoins, type CoinFrame, chooseCoins } from '#psbts/planning/choose-coins.ts';
import { inputWeight, signedWeight, weighedParts } from '#psbts/planning/input-weight.ts';
import { type PsbtInput, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { namedRuns } from '#test/support/property-runs.ts';
import {
  customerAddress,
  type PaymentType,
  paymentTypes,
  signerOf,
} from '#test/support/psbts/customer-address.ts';

const signers = new Map<PaymentType, Signer>(
  paymentTypes.map((type) => [type, signerOf(customerAddress(70, type))]),
);
const ordinals = signerOf(customerAddress(71), 'ordinals');
const funding = customerAddress(72).script;

const input = (signer: Signer, value: bigint, place: number): PsbtInput => ({
  txid: asTxid(Buffer.alloc(32, place % 251)),
  vout: place,
  value,
  signer,
  blockHash: asBlockHashHex('00'.repeat(32)),
});

const frame = (type: PaymentType, charge: bigint, feeRate: bigint, special = 0n): CoinFrame => ({
  inputs: special === 0n ? [] : [{ value: special, signer: ordinals }],
  outputs: [
    ...(special === 0n ? [] : [{ value: special, script: ordinals.script }]),
    { value: charge, script: funding },
  ],
  payer: signers.get(type)!,
  feeRate,
});

const coins = (...values: readonly number[]) =>
  values.map((value) => ({ value: BigInt(value) })).toSorted((a, b) => Number(b.value - a.value));

test('one coin pays, with change', () => {
  const chosen = chooseCoins(coins(100_000, 50_000), frame('p2wpkh', 10_000n, 1000n), false);
  // 10.5 virtual bytes for the frame, 68 for an input, and 43 and 31 for the outputs
  expect(chosen).toMatchObject({
    kind: 'chosen',
    fee: 153n,
    change: 100_000n - 10_000n - 153n,
    overpaid: 0n,
  });
});

test('a rest below dust costs another coin, or is given away if there is none', () => {
  const given = frame('p2wpkh', 10_000n, 1000n);
  // without change, the fee is 122 sats
  const two = chooseCoins(coins(10_300, 10_000), given, true) as ChosenCoins<{ value: bigint }>;
  expect(two.coins).toHaveLength(2);
  expect(two.change).toBeGreaterThan(294n);
  const one = chooseCoins(coins(10_300), given, true);
  expect(one).toMatchObject({ kind: 'chosen', change: 0n, fee: 300n, overpaid: 178n });
  // one more coin would not make change either
  expect(chooseCoins(coins(10_300, 100), given, true)).toMatchObject({
    kind: 'chosen',
    change: 0n,
    fee: 300n,
  });
});

test('coins that cost more than they bring are never spent, and end the search', () => {
  const given = frame('p2pkh', 10_000n, 100_000n);
  const short = chooseCoins(coins(14_800, 14_800, 14_800), given, false);
  expect(short).toMatchObject({ kind: 'short', there: 0n });
});

test('more coins are listed until they pay', () => {
  const given = frame('p2tr', 100_000n, 2000n);
  expect(chooseCoins(coins(50_000), given, false)).toEqual({ kind: 'more' });
  expect(chooseCoins(coins(50_000), given, true)).toEqual({
    kind: 'short',
    there: 50_000n,
    needed: 100_000n + feeOf(signedWeight(weighedParts([{ signer: ordinals }], given.outputs)), 2000n),
  });
});

test('nodes do not relay a transaction with more coins', () => {
  const many = coins(...Array.from({ length: 2_000 }, () => 1_000));
  expect(chooseCoins(many, frame('p2tr', 1_900_000n, 100n), true)).toMatchObject({ kind: 'too-many' });
});

/** Values around those that decide: costs of inputs, dust, and amounts. */
const value = fc.oneof(
  fc.integer({ min: 1, max: 1_000 }),
  fc.integer({ min: 300, max: 20_000 }),
  fc.integer({ min: 10_000, max: 5_000_000 }),
);
const rate = fc.oneof(fc.integer({ min: 100, max: 3_000 }), fc.integer({ min: 3_000, max: 500_000 }));
const scene = fc.record({
  type: fc.constantFrom(...paymentTypes),
  values: fc.array(value, { maxLength: 9 }),
  charge: fc.integer({ min: 330, max: 200_000 }),
  rate,
  special: fc.oneof(fc.constant(0), fc.integer({ min: 330, max: 100_000 })),
});

interface Scene {
  readonly type: PaymentType;
  readonly values: readonly number[];
  readonly charge: number;
  readonly rate: number;
  readonly special: number;
}

/**
 * The smallest number of coins that pay, over all sets. A set pays with change, or with a rest that does not visibly
 * change the rate. Returns `null` if no set pays.
 */
function fewest(all: readonly { readonly value: bigint }[], given: CoinFrame): number | null {
  let least: number | null = null;
  for (let set = 0; set < 1 << all.length; set++) {
    const taken = all.filter((_, at) => (set & (1 << at)) !== 0);
    const inputs = [...given.inputs, ...taken.map((coin) => ({ ...coin, signer: given.payer }))];
    const rest = valueOf(inputs) - valueOf(given.outputs);
    const bare = feeOf(signedWeight(weighedParts(inputs, given.outputs)), given.feeRate);
    const full = feeOf(signedWeight(weighedParts(inputs, [...given.outputs, given.payer])), given.feeRate);
    const isExact = rest >= bare && (rest - bare) * 100n <= bare;
    const pays = inputs.length > 0 && (isExact || rest - full >= BigInt(dustOf(given.payer.script)));
    if (pays && (least === null || taken.length < least)) least = taken.length;
  }
  return least;
}

test('for random coins and rates: no dust, the asked rate, and at most one coin more than the fewest', () => {
  fc.assert(
    fc.property(scene, ({ type, values, charge, rate: feeRate, special }: Scene) => {
      const all = coins(...values);
      const given = frame(type, BigInt(charge), BigInt(feeRate), BigInt(special));
      const choice = chooseCoins(all, given, true);
      const least = fewest(all, given);
      if (choice.kind !== 'chosen') {
        expect(choice.kind).toBe('short');
        expect(least).toBeNull();
        if (choice.kind === 'short') expect(choice.needed).toBeGreaterThan(choice.there);
        return;
      }
      const payer = signers.get(type)!;
      const cost = feeOf(inputWeight(payer.type), given.feeRate);
      for (const coin of choice.coins) expect(coin.value > cost).toBe(true);
      const inputs = [
        ...given.inputs.map((each, place) => input(ordinals, each.value, 200 + place)),
        ...choice.coins.map((coin, place) => input(payer, coin.value, place)),
      ];
      const change = choice.change === 0n ? [] : [{ value: choice.change, script: payer.script }];
      // `psbtPlan` checks that no output is dust, and that no sat appears or disappears
      const plan = psbtPlan({
        inputs,
        outputs: [...given.outputs, ...change].map((output) => ({ ...output, purpose: 'charge' as const })),
      });
      expect(plan.fee).toBe(choice.fee);
      const asked = feeOf(plan.weight, given.feeRate);
      expect(plan.fee - choice.overpaid).toBe(asked);
      if (choice.overpaid * 100n <= asked) {
        expect(choice.coins.length).toBeLessThanOrEqual(least! + 1);
        return;
      }
      // no set with one more coin makes change, and the rest is less than change plus its cost
      const changed = feeOf(signedWeight(weighedParts(inputs, [...plan.outputs, payer])), given.feeRate);
      expect(choice.overpaid < BigInt(dustOf(payer.script)) + changed - asked).toBe(true);
      if (least !== null) expect(choice.coins.length).toBeLessThanOrEqual(least);
    }),
    { numRuns: namedRuns(1_000, 10_000) },
  );
});
