import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { planConsolidation } from '#tokenpay/withdrawing/planning/plan-consolidation.ts';
import type { ConsolidationRequest } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import {
  batches,
  type CoinParts,
  changeScript,
  coinsOf,
  limits,
  modelOf,
  runeIds,
  unitsOf,
} from './withdrawal-wallet.ts';

const dust = (count: number): CoinParts[] =>
  Array.from({ length: count }, (_, nth) => ({ owner: 'a', value: 546, runes: [[nth % 3, 10]] }));
const requestOf = (
  coins: readonly CoinParts[],
  more: Partial<ConsolidationRequest> = {},
): ConsolidationRequest => ({
  coins: coinsOf(coins),
  feeRate: 1000n,
  feeRateMax: 2000n,
  usualFeeRate: 20_000n,
  budget: 10_000n,
  inputsMin: 5,
  change: changeScript,
  limits: { ...limits, inputsMax: 50 },
  ...more,
});

test('dust is joined while fees are low, within the budget', () => {
  const result = planConsolidation(requestOf(dust(60)));
  expect(result).toMatchObject({ kind: 'plan', plan: { overpaid: 0n } });
  const plan = result.kind === 'plan' ? result.plan : null;
  expect([plan?.inputs.length, plan?.outputs.length]).toEqual([50, 2]);
  const cheap = planConsolidation(requestOf(dust(60), { budget: 1000n }));
  // 58 virtual bytes each, beside 97 of the rest
  expect(cheap.kind === 'plan' ? cheap.plan.inputs.length : 0).toBe(15);
});

test.each<readonly [string, number, Partial<ConsolidationRequest>, string]>([
  ['fees are high', 60, { feeRate: 2001n }, 'rate'],
  ['fees are as usual', 60, { feeRate: 1500n, usualFeeRate: 1500n }, 'rate'],
  ['there is little dust', 4, {}, 'coins'],
  ['the coins pay for themselves', 60, { usualFeeRate: 2000n }, 'coins'],
  ['the budget is small', 60, { budget: 300n }, 'budget'],
  ['its sats are too few', 5, { feeRate: 12_000n, feeRateMax: 15_000n, budget: 100_000n }, 'sats'],
])('nothing is joined where %s', (_name, count, more, reason) => {
  expect(planConsolidation(requestOf(dust(count), more))).toEqual({ kind: 'none', reason });
});

test('no unit is lost where coins are joined, by the model', () => {
  let joined = 0;
  fc.assert(
    fc.property(batches, fc.bigInt({ min: 0n, max: 50_000n }), ({ coins }, budget) => {
      const result = planConsolidation(
        requestOf([], { coins, budget, inputsMin: 2, usualFeeRate: 100_000n }),
      );
      if (result.kind === 'none') return;
      joined++;
      const { plan } = result;
      expect(plan.fee).toBeLessThanOrEqual(budget);
      const { outputs, burned } = modelOf(plan);
      expect(burned).toBe(0n);
      for (const id of runeIds)
        expect(outputs[0]!.get(formatRuneId(id)) ?? 0n).toBe(unitsOf(plan.inputs, id));
      expect(plan.outputs.every(({ kind, script }) => kind === 'change' && script === changeScript)).toBe(
        true,
      );
    }),
    { numRuns: propertyRuns(100) },
  );
  expect(joined).toBeGreaterThan(5);
});
