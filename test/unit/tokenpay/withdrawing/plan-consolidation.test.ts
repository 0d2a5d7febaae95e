import fc from 'fast-check';
import { expect, test } from 'vitest';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  type ConsolidationRequest,
  joinCoins,
  joinedLeast,
  joinedMax,
  planConsolidation,
} from '#tokenpay/withdrawing/planning/plan-consolidation.ts';
import type { WithdrawalPlan } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import { type CoinParts, changeScript, coinsOf, modelOf, runeIds, unitsOf } from './withdrawal-wallet.ts';

const dust = (count: number, value = 546): CoinParts[] =>
  Array.from({ length: count }, (_, nth) => ({ owner: 'a', value, runes: [[nth % 3, 10]] }));
const requestOf = (
  coins: readonly CoinParts[],
  more: Partial<ConsolidationRequest> = {},
): ConsolidationRequest => ({
  coins: coinsOf(coins),
  feeRate: 1_000n,
  poorFeeRate: 20_000n,
  budget: 100_000n,
  change: changeScript,
  ...more,
});
const planOf = (request: ConsolidationRequest): WithdrawalPlan => {
  const made = planConsolidation(request);
  if (made.kind === 'none') throw new Error(made.reason);
  return made.plan;
};

test('poor coins are joined into one of runes and one of sats, within the budget', () => {
  const plan = planOf(requestOf(dust(60)));
  expect([plan.inputs.length, plan.outputs.map(({ value }) => value)]).toEqual([
    60,
    [330n, 60n * 546n - 330n - plan.fee],
  ]);
  // 58 virtual bytes for each coin, and 97 for the rest of the transaction
  expect(planOf(requestOf(dust(60), { budget: 1_000n })).inputs.length).toBe(15);
  expect(planOf(requestOf(dust(joinedMax + 50))).inputs.length).toBe(joinedMax);
});

test.each<readonly [string, CoinParts[], Partial<ConsolidationRequest>, string]>([
  ['few are poor', dust(joinedLeast - 1), {}, 'coins'],
  ['the coins pay for themselves', dust(60, 1_161), {}, 'coins'],
  ['the coins cost more than they bring now', dust(60), { feeRate: 10_000n }, 'coins'],
  ['the budget is small', dust(60), { budget: 600n }, 'budget'],
  ['there is no budget', dust(60), { budget: 0n }, 'budget'],
  ['the sats do not pay for the change', dust(joinedLeast, 60), {}, 'sats'],
])('nothing is joined if %s', (_name, coins, more, reason) => {
  expect(planConsolidation(requestOf(coins, more))).toEqual({ kind: 'none', reason });
});

test('a replacement joins the same coins and pays more', () => {
  const { inputs, fee } = planOf(requestOf(dust(20)));
  const replaced = { fee, virtualBytes: 1_300, incrementalFeeRate: 1_000n };
  const more = joinCoins(inputs, { feeRate: 1_000n, change: changeScript, replaced });
  expect([more?.inputs, (more?.fee ?? 0n) > fee + 1_000n]).toEqual([inputs, true]);
  expect(joinCoins(inputs, { feeRate: 20_000n, change: changeScript, replaced })).toBeNull();
});

const coins = fc.array(
  fc.record({
    value: fc.oneof(fc.integer({ min: 294, max: 1_400 }), fc.constant(546)),
    owner: fc.constantFrom(null, 'a', 'b'),
    isFee: fc.boolean(),
    runes: fc
      .uniqueArray(fc.nat({ max: runeIds.length - 1 }), { maxLength: 3 })
      .chain((all) =>
        fc.tuple(...all.map((nth) => fc.tuple(fc.constant(nth), fc.bigInt({ min: 1n, max: 2n ** 118n })))),
      ),
  }),
  { minLength: joinedLeast, maxLength: 60 },
);
const rates = fc.bigInt({ min: 100n, max: 5_000n });

test('no unit and no sat is lost, by the model, and no joined coin costs more than it brings', () => {
  let joined = 0;
  fc.assert(
    fc.property(coins, rates, fc.bigInt({ min: 0n, max: 20_000n }), (parts, feeRate, budget) => {
      const result = planConsolidation(requestOf(parts, { feeRate, budget }));
      if (result.kind === 'none') return;
      joined++;
      const { inputs, outputs, fee, overpaid, weight } = result.plan;
      expect([fee <= budget, fee, overpaid]).toEqual([true, feeOf(weight, feeRate), 0n]);
      expect(inputs.length).toBeGreaterThanOrEqual(joinedLeast);
      for (const { value, script } of inputs) {
        expect(value).toBeGreaterThan(feeOf(keyInputWeightOf(script), feeRate));
        expect(value).toBeLessThanOrEqual(feeOf(keyInputWeightOf(script), 20_000n));
      }
      const sums = [inputs, outputs].map((all) => all.reduce((sum, { value }) => sum + value, 0n));
      expect(sums[0]).toBe(sums[1]! + fee);
      const model = modelOf(result.plan);
      expect(model.burned).toBe(0n);
      for (const id of runeIds)
        expect(model.outputs[0]!.get(formatRuneId(id)) ?? 0n).toBe(unitsOf(inputs, id));
      expect(outputs.every(({ kind, script }) => kind === 'change' && script === changeScript)).toBe(true);
    }),
    { numRuns: propertyRuns(100) },
  );
  expect(joined).toBeGreaterThan(5);
});
