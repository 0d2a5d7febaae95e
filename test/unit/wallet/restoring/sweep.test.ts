import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { plainInputs, testWallet } from '#test/support/wallet/plans.ts';
import type { FoundOutput } from '#wallet/restoring/find-outputs.ts';
import { sweep } from '#wallet/restoring/sweep.ts';

const { wallet, signer } = testWallet('regtest');
const destination = Uint8Array.of(0, 20, ...new Uint8Array(20));
const keys = [0, 1, 2, 3, 4].flatMap((index) => [
  { branch: 0, index } as const,
  { branch: 3, index } as const,
]);
const addresses = keys.map((key) => wallet.addressOf({ key, leafScript: null }));

const foundOf = (values: readonly bigint[]): FoundOutput[] =>
  values.map((value, vout) => {
    const { script, key } = addresses[vout % addresses.length]!;
    const own = { key, leafScript: null };
    const txid = asTxid(createHash('sha256').update(`found ${vout}`).digest());
    return { own, script, txid, vout, value, height: 1, orderId: null };
  });

test('found outputs go to one address, each once or not at all, and no fee takes more than the largest', () => {
  const values = fc.array(fc.bigInt({ min: 1n, max: 10n ** 6n }), { maxLength: 450, size: 'max' });
  fc.assert(
    fc.property(values, fc.bigInt({ min: 1n, max: 500_000n }), (all, feeRate) => {
      const found = foundOf(all);
      const { plans, left } = sweep(found, destination, feeRate);
      const taken = plans.flatMap(({ inputs }) => inputs.map(({ vout }) => vout));
      expect([...taken, ...left.map(({ vout }) => vout)].toSorted((a, b) => a - b)).toEqual(
        found.map(({ vout }) => vout),
      );
      for (const plan of plans) {
        const { inputs, outputs } = plan;
        expect(inputs.length).toBeLessThanOrEqual(200);
        const fee = inputs.reduce((sum, { value }) => sum + value, 0n) - outputs[0]!.value;
        const vsize = BigInt(Math.ceil(plannedWeight(plan) / 4));
        expect(fee).toBe((vsize * feeRate + 999n) / 1000n);
        // sats move in order from inputs to outputs, so the fee comes from the end: only from the last input
        const last = inputs.at(-1)!.value;
        expect(last).toBeGreaterThan(fee);
        expect(Math.max(...inputs.map(({ value }) => Number(value)))).toBe(Number(last));
        expect(outputs[0]!.value).toBeGreaterThanOrEqual(BigInt(dustOf(destination)));
      }
    }),
    { numRuns: propertyRuns(40) },
  );
});

test('its plans break no rule of the wallet', () => {
  const { plans } = sweep(foundOf([5000n, 546n, 90_000n]), destination, 2000n);
  expect(plans.map(({ inputs }) => inputs.map(({ value }) => value))).toEqual([[546n, 5000n, 90_000n]]);
  expect(signer.signPlan(plans[0]!, plainInputs(plans[0]!)).fee).toBeGreaterThan(0n);
  expect(sweep([], destination, 2000n)).toEqual({ plans: [], left: [] });
});
