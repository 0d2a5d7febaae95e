import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dustOf, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { namedRuns, propertyRuns } from '#test/support/property-runs.ts';
import { planWithdrawals } from '#tokenpay/withdrawing/planning/plan-withdrawals.ts';
import { feeFor } from '#tokenpay/withdrawing/planning/withdrawal-layout.ts';
import type {
  PricedWithdrawal,
  WithdrawalBatch,
  WithdrawalPlan,
} from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import {
  batches,
  batchOf,
  type CoinParts,
  coinsOf,
  limits,
  modelOf,
  receivers,
  runeId,
  unitsOf,
} from './withdrawal-wallet.ts';

const paidIn = ({ outputs }: WithdrawalPlan): string[] =>
  outputs.flatMap(({ withdrawal }) => withdrawal ?? []);

const sumOf = (parts: readonly { readonly value: bigint }[]): bigint =>
  parts.reduce((sum, { value }) => sum + value, 0n);

/** Checks with the model that each unit and each sat reaches its destination. */
function expectRight(plan: WithdrawalPlan, batch: WithdrawalBatch): void {
  const { outputs, burned } = modelOf(plan);
  expect(burned).toBe(0n);
  for (const [vout, { kind, script, value, withdrawal }] of plan.outputs.entries()) {
    const given = outputs[vout]!;
    if (kind === 'burn') {
      expect([value, given.size]).toEqual([0n, 0]);
      expect(script.length).toBeLessThanOrEqual(batch.limits.dataCarrierBytes);
      continue;
    }
    expect(value).toBeGreaterThanOrEqual(BigInt(dustOf(script)));
    if (kind === 'change') continue;
    const { rune, units, sats, script: receiver } = batch.withdrawals.find(({ id }) => id === withdrawal)!;
    expect([script, value]).toEqual([receiver, sats]);
    expect(given).toEqual(new Map(rune === null ? [] : [[formatRuneId(rune), units]]));
  }
  // all other units are in the first output
  const elsewhere = plan.outputs.flatMap(({ kind }, vout) =>
    kind === 'change' && vout > 0 ? [outputs[vout]!.size] : [],
  );
  expect(elsewhere.every((size) => size === 0)).toBe(true);
  expect(sumOf(plan.inputs)).toBe(sumOf(plan.outputs) + plan.fee);
  expect(plan.fee - plan.overpaid).toBe(feeFor(plan.weight, batch.feeRate, batch.replaced));
  const ofChange = feeFor(plan.weight + 4 * 43, batch.feeRate, batch.replaced) - (plan.fee - plan.overpaid);
  // with more overpaid sats, the plan would have a change output
  expect(plan.overpaid).toBeLessThan(330n + ofChange + 1n);
}

/**
 * Checks that the plan spends no coin of an account without a withdrawal. No withdrawal may spend more coins than
 * allowed.
 */
function expectFair(
  plan: WithdrawalPlan,
  { withdrawals, kept, limits: { inputsMax } }: WithdrawalBatch,
): void {
  const sent = new Set(paidIn(plan));
  const accounts = new Set(withdrawals.filter(({ id }) => sent.has(id)).map(({ account }) => account));
  const chosen = plan.inputs.filter((coin) => !kept.includes(coin));
  expect(chosen.every(({ owner }) => owner === null || accounts.has(owner))).toBe(true);
  expect(chosen.length).toBeLessThanOrEqual(inputsMax * sent.size);
}

describe('plans of withdrawals', () => {
  test('neither burn nor misdirect a unit, whatever is in the wallet', () => {
    const counts = { plans: 0, runes: 0, shared: 0 };
    fc.assert(
      fc.property(batches, (batch) => {
        const { plan, waiting, refused } = planWithdrawals(batch);
        const named = [
          ...(plan === null ? [] : paidIn(plan)),
          ...waiting.map(({ id }) => id),
          ...refused.map(({ id }) => id),
        ];
        expect(named.toSorted()).toEqual(batch.withdrawals.map(({ id }) => id).toSorted());
        if (plan === null) return;
        expectRight(plan, batch);
        expectFair(plan, batch);
        counts.plans++;
        if (plan.runes !== null) counts.runes++;
        if (paidIn(plan).length > 1) counts.shared++;
      }),
      { numRuns: namedRuns(300, 10_000) },
    );
    // the random wallets include enough interesting cases
    expect(Math.min(counts.plans, counts.runes, counts.shared)).toBeGreaterThan(1);
  });

  test('that replace one pay the same receivers from its inputs, with a higher fee', () => {
    let replaced = 0;
    fc.assert(
      fc.property(batches, fc.integer({ min: 1000, max: 20_000 }), (batch, more) => {
        const { plan: before } = planWithdrawals(batch);
        if (before === null) return;
        const sent = new Set(paidIn(before));
        const again: WithdrawalBatch = {
          ...batch,
          withdrawals: batch.withdrawals.filter(({ id }) => sent.has(id)),
          coins: batch.coins.filter((coin) => !before.inputs.includes(coin)),
          kept: before.inputs,
          replaced: { fee: before.fee, virtualBytes: virtualSize(before.weight), incrementalFeeRate: 1000n },
          feeRate: (batch.feeRate * BigInt(more)) / 1000n,
        };
        const { plan } = planWithdrawals(again);
        if (plan === null) return;
        expectRight(plan, again);
        expect(before.inputs.every((coin) => plan.inputs.includes(coin))).toBe(true);
        expect(plan.fee).toBeGreaterThan(before.fee);
        if (paidIn(plan).length === sent.size) replaced++;
      }),
      { numRuns: propertyRuns(100) },
    );
    expect(replaced).toBeGreaterThan(5);
  });

  test('leave one withdrawal out only if coins are missing, or are too many', () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const only = batch.withdrawals[0]!;
        const { plan, waiting } = planWithdrawals({ ...batch, withdrawals: [only] });
        const own = batch.coins.filter(({ owner }) => owner === only.account);
        const all = batch.coins.filter(({ owner }) => owner === null || owner === only.account);
        const [wait] = waiting;
        if (wait?.wait.code === 'coins' && wait.wait.asset === 'units')
          expect(wait.wait.missing).toBe(only.units - unitsOf(all, only.rune));
        if (plan === null) return;
        // coins without an owner are spent only after all of the account's own coins of the asset
        const strange = plan.inputs.filter(
          (coin) => coin.owner === null && only.rune !== null && unitsOf([coin], only.rune) > 0n,
        );
        const unspent = own.filter((coin) => !plan.inputs.includes(coin) && unitsOf([coin], only.rune) > 0n);
        const isNeeded = unitsOf(plan.inputs, only.rune) - unitsOf(strange, only.rune) < only.units;
        if (strange.length > 0 && isNeeded) expect(unspent).toEqual([]);
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});

const wanted = (
  id: string,
  account: string,
  rune: number | null,
  units: number,
  sats = 330,
): PricedWithdrawal => ({
  id,
  account,
  rune: rune === null ? null : runeId(rune),
  units: BigInt(units),
  sats: BigInt(sats),
  script: receivers.p2tr,
});
const planned = (
  withdrawals: readonly PricedWithdrawal[],
  coins: readonly CoinParts[],
  more: Partial<WithdrawalBatch> = {},
) => planWithdrawals(batchOf(withdrawals, coinsOf(coins), more));

describe('a plan of withdrawals', () => {
  test('has the remaining units in one change, and sats in another', () => {
    const { plan, waiting } = planned(
      [wanted('r', 'a', 0, 40), wanted('s', 'b', null, 5000, 4000)],
      [
        {
          owner: 'a',
          value: 20_000,
          runes: [
            [0, 100],
            [1, 7],
          ],
        },
        { owner: 'b', value: 9000, isFee: true },
      ],
    );
    expect(waiting).toEqual([]);
    expect(
      plan?.outputs.map(({ kind, value, runes }) => [
        kind,
        kind === 'change' && runes.length === 0 ? 'sats' : value,
        runes.map(({ id, amount }) => [formatRuneId(id), amount]),
      ]),
    ).toEqual([
      [
        'change',
        330n,
        [
          ['840000:1', 60],
          ['840000:70000', 7],
        ],
      ],
      ['change', 'sats', []],
      ['withdrawal', 330n, [['840000:1', 40]]],
      ['withdrawal', 4000n, []],
      ['burn', 0n, []],
    ]);
  });

  test('without runes needs neither runestone nor change', () => {
    const { plan } = planned([wanted('s', 'a', null, 10_000, 10_000 - 111)], [{ owner: 'a', value: 10_000 }]);
    expect(plan).toMatchObject({ fee: 111n, overpaid: 0n, weight: 444, runes: null });
    expect(plan?.outputs).toHaveLength(1);
  });

  test("takes as many withdrawals of runes as the node's runestone has room for", () => {
    const accounts = Array.from({ length: 20 }, (_, nth) => `a${nth}`);
    const withdrawals = accounts.map((account) => wanted(account, account, 0, 1000));
    const coins = accounts.map((owner): CoinParts => ({ owner, value: 3000, runes: [[0, 1000]] }));
    const carried = (dataCarrierBytes: number) =>
      planned(withdrawals, coins, { limits: { ...limits, dataCarrierBytes } });
    const usual = carried(83);
    // three bytes for the script's start, three for pointer and body, seven for the first edict, five for each further
    // edict
    expect([paidIn(usual.plan!).length, usual.plan!.outputs.at(-1)!.script.length]).toEqual([14, 78]);
    expect(usual.waiting.map(({ wait }) => wait.code)).toEqual(Array.from({ length: 6 }, () => 'runestone'));
    expect(paidIn(carried(40).plan!)).toHaveLength(6);
    expect(paidIn(carried(100_000).plan!)).toHaveLength(20);
    expect(carried(12).refused[0]).toEqual({
      id: 'a0',
      refusal: { code: 'runestone', bytes: 13, bytesMax: 12 },
    });
  });

  test('spends dust at the cost of the account that got it, and never for others', () => {
    const dust = Array.from({ length: 30 }, (): CoinParts => ({ owner: 'a', value: 330, runes: [[0, 1]] }));
    const coins: CoinParts[] = [
      ...dust,
      { value: 100_000, runes: [[0, 500]] },
      { owner: 'b', value: 5000, runes: [[0, 9]] },
    ];
    const few = planned([wanted('w', 'a', 0, 5)], coins).plan!;
    expect(few.inputs.filter(({ owner }) => owner === 'a')).toHaveLength(5);
    // the withdrawal may spend only coins of its account, although a coin without an owner would suffice
    expect(planned([wanted('w', 'a', 0, 25)], coins).refused).toEqual([
      { id: 'w', refusal: { code: 'inputs', most: 20n, inputsMax: 20 } },
    ]);
    const other = planned([wanted('w', 'b', 0, 30)], coins).plan!;
    expect(other.inputs.map(({ owner }) => owner)).toEqual(['b', null]);
  });

  test.each<readonly [string, Partial<PricedWithdrawal>, object]>([
    ['an amount of 0', { units: 0n }, { code: 'amount' }],
    ['an amount above 2^128 - 1', { units: 2n ** 128n }, { code: 'amount' }],
    ['less than nodes relay', { sats: 329n }, { code: 'dust', sats: 329n, least: 330n }],
    ['an OP_RETURN', { script: Uint8Array.of(0x6a) }, { code: 'destination', fault: 'nonstandard' }],
    ['more sats than it gives', { rune: null, units: 500n, sats: 501n }, { code: 'amount' }],
  ])('refuses %s', (_name, more, refusal) => {
    const coins: CoinParts[] = [{ owner: 'a', value: 9000, runes: [[0, 100]] }];
    expect(planned([{ ...wanted('w', 'a', 0, 10), ...more }], coins)).toMatchObject({
      plan: null,
      waiting: [],
      refused: [{ id: 'w', refusal }],
    });
  });

  test('waits for coins, and says how much is missing', () => {
    const coins: CoinParts[] = [
      { owner: 'a', value: 546, runes: [[0, 100]] },
      { owner: 'b', value: 90_000, runes: [[0, 1]] },
    ];
    expect(planned([wanted('w', 'a', 0, 101)], coins).waiting).toEqual([
      { id: 'w', wait: { code: 'coins', missing: 1n, asset: 'units' } },
    ]);
    const poor = planned([wanted('w', 'a', 0, 100)], coins).waiting;
    expect(poor).toMatchObject([{ id: 'w', wait: { code: 'coins', asset: 'sats' } }]);
    // another, later withdrawal pays for the frame of the transaction
    const both = planned(
      [wanted('w', 'a', 0, 100), wanted('s', 'b', null, 5000, 4500)],
      [{ ...coins[0]!, value: 530 }, coins[1]!],
    );
    expect(paidIn(both.plan!)).toEqual(['w', 's']);
  });

  test('wait if free coins without an owner are too small, and end if those of the account are too many', () => {
    const wanted: PricedWithdrawal = {
      id: 'w',
      account: 'a',
      rune: null,
      units: 25_000n,
      sats: 20_000n,
      script: receivers.p2tr,
    };
    const planned = (owner: string | null) =>
      planWithdrawals(
        batchOf([wanted], coinsOf(Array.from({ length: 30 }, (): CoinParts => ({ owner, value: 1000 })))),
      );
    expect(planned(null)).toEqual({
      plan: null,
      waiting: [{ id: 'w', wait: { code: 'inputs' } }],
      refused: [],
    });
    expect(planned('a')).toEqual({
      plan: null,
      waiting: [],
      refused: [{ id: 'w', refusal: { code: 'inputs', most: 20_000n, inputsMax: limits.inputsMax } }],
    });
  });
});
