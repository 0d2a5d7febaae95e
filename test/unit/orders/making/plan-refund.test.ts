import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { isWorthRefunding, type OwedOutput, planRefund, refundedAtOnce } from '#orders/making/plan-refund.ts';
import { usualFeeRate } from '#orders/sending/node-standing.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const p2tr = Uint8Array.of(0x51, 0x20, ...new Uint8Array(32));
const p2pkh = Uint8Array.of(0x76, 0xa9, 20, ...new Uint8Array(20), 0x88, 0xac);

const output = (value: bigint, vout: number, owed = value): OwedOutput => ({
  owed,
  txid: trustedTxid(new Uint8Array(32)),
  vout,
  value,
  script: p2tr,
  key: { branch: 0, index: 7 },
  leafScript: null,
});

const kept = { script: p2tr, own: { key: { branch: 1, index: 3 }, leafScript: null } } as const;

describe('a refund', () => {
  test('refunds everything that is worth its fee, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 0n, max: 1_000_000n }), { minLength: 1, maxLength: 8 }),
        fc.bigInt({ min: 1000n, max: 500_000n }),
        fc.constantFrom(p2tr, p2pkh),
        (values, feeRate, script) => {
          const plan = planRefund(
            values.map((value, vout) => output(value, vout)),
            script,
            kept,
            feeRate,
          );
          if (plan === null) return;
          const spent = plan.inputs.reduce((sum, { value }) => sum + value, 0n);
          const [paid] = plan.outputs;
          expect(plan.outputs).toHaveLength(1);
          const fee = spent - paid!.value;
          const size = BigInt(Math.ceil(plannedWeight(plan) / 4));
          expect(fee).toBe((size * feeRate + 999n) / 1000n);
          expect(plan.feeMax).toBe(fee);
          expect(paid!.value).toBeGreaterThanOrEqual(script === p2pkh ? 546n : 330n);
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  test('beyond one transaction begins with the largest amounts, in their order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 100n, max: 1_000_000n }), {
          minLength: refundedAtOnce + 1,
          maxLength: 3 * refundedAtOnce,
        }),
        (values) => {
          let left = values.map((value, vout) => output(value, vout));
          let most = 1_000_000n;
          while (left.length > 0) {
            const plan = planRefund(left, p2tr, kept, 1000n);
            if (plan === null) break;
            const vouts = plan.inputs.map(({ vout }) => vout);
            expect(vouts).toHaveLength(Math.min(left.length, refundedAtOnce));
            expect(vouts).toEqual(vouts.toSorted((a, b) => a - b));
            for (const { value } of plan.inputs) expect(value).toBeLessThanOrEqual(most);
            left = left.filter(({ vout }) => !vouts.includes(vout));
            for (const { value } of plan.inputs) if (value < most) most = value;
          }
          // the smallest payments together may be less than dust
          expect(left.reduce((sum, { value }) => sum + value, 0n)).toBeLessThan(500n + 58n * 10n);
        },
      ),
      { numRuns: propertyRuns(50) },
    );
  });

  test('is not made if it would be dust', () => {
    expect(planRefund([output(400n, 0)], p2tr, kept, 1000n)).toBeNull();
    expect(planRefund([output(50n, 0)], p2tr, kept, 1000n)).toBeNull();
    expect(planRefund([output(441n, 0)], p2tr, kept, 1000n)?.outputs[0]?.value).toBe(330n);
  });

  test('is worth making exactly if one output with this amount can be refunded at the least rate', () => {
    for (const script of [p2tr, p2pkh]) {
      for (const value of [330n, 440n, 441n, 656n, 657n, 10_000n]) {
        const isMade = planRefund([output(value, 0)], script, kept, usualFeeRate) !== null;
        expect(isWorthRefunding(value, script), `${value}`).toBe(isMade);
      }
    }
  });

  test('of an excess payment leaves our part', () => {
    const plan = planRefund([output(10_000n, 0, 7000n)], p2tr, kept, 1000n);
    expect(plan?.outputs.map(({ kind }) => kind)).toEqual(['refund', 'change']);
    expect(plan?.outputs[1]?.value).toBe(3000n);
    expect(plan!.outputs[0]!.value + plan!.feeMax).toBe(7000n);
  });
});
