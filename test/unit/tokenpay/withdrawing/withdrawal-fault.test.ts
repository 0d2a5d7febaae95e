import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asU128 } from '#kernel/runes/u128.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { planWithdrawals } from '#tokenpay/withdrawing/planning/plan-withdrawals.ts';
import { withdrawalFault } from '#tokenpay/withdrawing/planning/withdrawal-fault.ts';
import { edictsOf, stoneScript } from '#tokenpay/withdrawing/planning/withdrawal-layout.ts';
import type {
  PricedWithdrawal,
  WithdrawalOutput,
  WithdrawalPlan,
} from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import { batches, batchOf, coinsOf, limits, receivers, runeId } from './withdrawal-wallet.ts';

const wanted = (id: string, rune: number, units: bigint): PricedWithdrawal => ({
  id,
  account: 'a',
  rune: runeId(rune),
  units,
  sats: 546n,
  script: receivers.p2tr,
});
const withdrawals = [wanted('first', 0, 40n), wanted('second', 1, 7n)];
const coins = coinsOf([
  {
    owner: 'a',
    value: 20_000,
    runes: [
      [0, 100],
      [1, 3],
    ],
  },
  { owner: 'a', value: 546, runes: [[1, 5]] },
]);
const plan = planWithdrawals(batchOf(withdrawals, coins)).plan!;
const held = plan.inputs.map(({ runes }) => runes);

test('a plan that the planner makes has no fault', () => {
  expect(withdrawalFault(plan, held, limits)).toBeNull();
});

const changed = (place: number, more: Partial<WithdrawalOutput>): WithdrawalPlan => ({
  ...plan,
  outputs: plan.outputs.map((output, at) => (at === place ? { ...output, ...more } : output)),
});
const last = plan.outputs.length - 1;
/** A plan whose runestone differs from the right one only in its edicts. */
const otherStone = (units: readonly bigint[], first = 2): WithdrawalPlan =>
  changed(last, {
    script: stoneScript(
      edictsOf(withdrawals, first).map((edict, nth) => ({ ...edict, amount: asU128(units[nth]!) })),
    ),
  });

test.each<readonly [string, WithdrawalPlan, string]>([
  [
    'an edict with other units',
    otherStone([41n, 7n]),
    'output 0 would get other units of rune 840000:1 than it names',
  ],
  ['an edict of 0', otherStone([40n, 0n]), 'an edict of 0 would move all of a rune'],
  ['edicts one output off', otherStone([40n, 7n], 3), 'it burns runes'],
  ['an edict beyond the outputs', otherStone([40n, 7n], 5), 'malformed (edict-output)'],
  [
    'receivers in another order',
    {
      ...plan,
      outputs: [plan.outputs[0]!, plan.outputs[1]!, plan.outputs[3]!, plan.outputs[2]!, plan.outputs[4]!],
    },
    'output 2 would get other units',
  ],
  ['no change', changed(0, { kind: 'withdrawal' }), 'would not go to its change'],
  ['dust', changed(2, { value: 329n }), 'output 2 has 329 sats'],
  ['other sats', changed(2, { value: 547n }), 'its inputs have 20546 sats'],
  ['a burn that is not one', changed(2, { kind: 'burn' }), 'output 2 is not of the kind burn'],
  ['two runestones', changed(2, plan.outputs[last]!), 'two OP_RETURN outputs'],
  [
    'one output twice',
    { ...plan, inputs: [plan.inputs[0]!, plan.inputs[0]!] },
    'two inputs spend one output',
  ],
  ['another weight', { ...plan, weight: plan.weight + 1 }, 'weight units, and names'],
])('a plan with %s has a fault', (_name, wrong, fault) => {
  const weight = wrong.weight === plan.weight ? weightOf(wrong) : wrong.weight;
  expect(withdrawalFault({ ...wrong, weight }, held, limits)).toContain(fault);
});

/** The real weight of a wrong plan. With it, the reported fault is not the weight. */
function weightOf(wrong: WithdrawalPlan): number {
  const said = withdrawalFault({ ...wrong, weight: -1 }, held, limits) ?? '';
  return Number(/^it weighs (\d+)/u.exec(said)?.[1] ?? wrong.weight);
}

test('a plan whose inputs hold other runes by the index has a fault', () => {
  const more = [held[0]!, [...held[1]!, { id: runeId(2), amount: asU128(1) }]];
  expect(withdrawalFault(plan, more, limits)).toBe(
    'input 1 holds other units of rune 840001:0 than it names',
  );
  expect(withdrawalFault(plan, [held[0]!], limits)).toContain('contents of 1 are known');
  expect(withdrawalFault(plan, held, { ...limits, dataCarrierBytes: 17 })).toContain(
    'the node relays at most 17',
  );
  expect(withdrawalFault(plan, held, { ...limits, weightMax: 400 })).toContain('400 are the maximum');
});

test('units that another runestone would move are found in any plan', () => {
  let seen = 0;
  fc.assert(
    fc.property(batches, fc.nat(), (batch, nth) => {
      const { plan: right } = planWithdrawals(batch);
      const edicts = right?.runes?.runestone?.edicts ?? [];
      if (right === null || edicts.length === 0) return;
      seen++;
      const place = nth % edicts.length;
      const moved = edicts.map((edict, at) => (at === place ? { ...edict, output: 0 } : edict));
      const outputs = right.outputs.map((output) =>
        output.kind === 'burn' ? { ...output, script: stoneScript(moved) } : output,
      );
      const runes = right.inputs.map((coin) => coin.runes);
      expect(withdrawalFault({ ...right, outputs }, runes, batch.limits)).not.toBeNull();
    }),
    { numRuns: propertyRuns(100) },
  );
  expect(seen).toBeGreaterThan(5);
});
