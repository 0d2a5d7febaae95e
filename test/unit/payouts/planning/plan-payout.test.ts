import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import {
  type PayoutCoin,
  payoutFeeRateMax,
  payoutVirtualBytesMax,
  planPayout,
  recipientsMax,
  type WantedPayout,
} from '#payouts/planning/plan-payout.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { plainInputs, testWallet } from '#test/support/wallet/plans.ts';

const { wallet, signer } = testWallet();
const rules = { mempoolMinFeeRate: 100n, incrementalFeeRate: 100n };
const own = wallet.ownAddress(3);
const { script: restScript, key, leafScript } = wallet.ownAddress(7);
const rest = { script: restScript, own: { key, leafScript } };
const foreign = (place: number): Uint8Array =>
  Buffer.from(`0014${place.toString(16).padStart(40, '0')}`, 'hex');
const coin = (place: number, value: bigint): PayoutCoin => ({
  txid: trustedTxid(new Uint8Array(32).fill(1 + (place % 250))),
  vout: place,
  value,
  script: own.script,
  keyIndex: 3,
});
const wanted = (more: Partial<WantedPayout> = {}): WantedPayout => ({
  recipients: [{ script: foreign(1), sats: 1000n }],
  kept: [],
  replaced: null,
  feeRate: 2000n,
  ...more,
});
function made(of: WantedPayout, coins: readonly PayoutCoin[]) {
  const planned = planPayout(of, coins, rest, rules);
  if (planned.kind === 'none') throw new Error(`there is a plan, not ${planned.limit}`);
  return planned;
}

describe('the transaction of a payout', () => {
  test('pays recipients, and keeps the rest as its first output', () => {
    const planned = made(wanted(), [coin(1, 5000n), coin(2, 5000n)]);
    expect(planned.spent).toEqual([coin(1, 5000n)]);
    // the payout has 142 virtual bytes, at 2 sat/vB
    expect(planned.fee).toBe(284n);
    expect(planned.plan.outputs).toEqual([
      { kind: 'change', value: 3716n, ...rest },
      { kind: 'payout', script: foreign(1), value: 1000n },
    ]);
    expect(signer.signPlan(planned.plan, plainInputs(planned.plan)).fee).toBe(284n);
  });

  test('says how many sats its coins lack', () => {
    expect(planPayout(wanted(), [], rest, rules)).toMatchObject({ kind: 'none', limit: 'coins' });
    const few = planPayout(wanted(), [coin(1, 1500n)], rest, rules);
    expect(few).toEqual({ kind: 'none', limit: 'coins', missing: 330n - (1500n - 1000n - 284n) });
    // a coin whose input costs more than its value is not counted
    expect(planPayout(wanted({ feeRate: 100_000n }), [coin(1, 5000n)], rest, rules)).toMatchObject({
      limit: 'coins',
    });
  });

  test('waits for lower fees, and for larger coins', () => {
    const high = wanted({ feeRate: payoutFeeRateMax + 1n });
    expect(planPayout(high, [coin(1, 10_000_000n)], rest, rules)).toMatchObject({ limit: 'rate' });
    const small = Array.from({ length: 2000 }, (_, place) => coin(place, 400n));
    const much = wanted({ recipients: [{ script: foreign(1), sats: 10_000_000n }] });
    expect(planPayout(much, small, rest, rules)).toMatchObject({ limit: 'size' });
  });

  test('has room for the maximum number of recipients', () => {
    const recipients = Array.from({ length: recipientsMax }, (_, place) => ({
      script: Buffer.from(`5120${place.toString(16).padStart(64, '0')}`, 'hex'),
      sats: 1000n,
    }));
    const { plan } = made(wanted({ recipients }), [coin(1, 10_000_000n)]);
    expect(virtualSize(plannedWeight(plan))).toBeLessThan(payoutVirtualBytesMax / 2);
  });
});

const values = fc.array(fc.bigInt(330n, 20_000n), { maxLength: 12 });
const payments = fc.array(fc.bigInt(330n, 8000n), { minLength: 1, maxLength: 6 });
const rates = fc.bigInt(100n, 40_000n);

test('a payout and its replacement lose no sat except the fee, and pay the same recipients the same', () => {
  fc.assert(
    fc.property(values, payments, rates, rates, (coinValues, sats, feeRate, laterRate) => {
      const coins = coinValues.map((value, place) => coin(place, value));
      const recipients = sats.map((each, place) => ({ script: foreign(place + 1), sats: each }));
      const first = planPayout(wanted({ recipients, feeRate }), coins, rest, rules);
      if (first.kind === 'none') return;
      const virtualBytes = virtualSize(plannedWeight(first.plan));
      const again = planPayout(
        wanted({
          recipients,
          feeRate: laterRate,
          kept: first.spent,
          replaced: { fee: first.fee, virtualBytes },
        }),
        coins.filter((each) => !first.spent.includes(each)),
        rest,
        rules,
      );
      for (const planned of again.kind === 'none' ? [first] : [first, again]) {
        const { inputs, outputs } = planned.plan;
        expect(valueOf(inputs)).toBe(valueOf(outputs) + planned.fee);
        expect(outputs[0]).toMatchObject({ kind: 'change', ...rest });
        expect(outputs[0]!.value).toBeGreaterThanOrEqual(330n);
        expect(outputs.slice(1).map(({ script, value }) => [script, value])).toEqual(
          recipients.map((each) => [each.script, each.sats]),
        );
        const signed = signer.signPlan(planned.plan, plainInputs(planned.plan));
        expect(signed.fee).toBe(planned.fee);
      }
      if (again.kind === 'none') return;
      // rules 3, 4 and 6 of BIP 125
      const size = virtualSize(plannedWeight(again.plan));
      expect(again.spent.slice(0, first.spent.length)).toEqual(first.spent);
      expect(again.fee).toBeGreaterThanOrEqual(first.fee + BigInt(Math.ceil(size / 10)));
      expect(again.fee * BigInt(virtualBytes)).toBeGreaterThan(first.fee * BigInt(size));
    }),
    { numRuns: propertyRuns(100) },
  );
});
