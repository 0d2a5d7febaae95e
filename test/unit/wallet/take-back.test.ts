import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { unknownHoldings } from '#kernel/contracts/holdings.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { orderLeaf, plainInputs, testWallet } from '#test/support/wallet/plans.ts';
import { ownScriptOf, recoveryKit } from '#wallet/recovery-kit.ts';
import { takeBackPlan } from '#wallet/take-back.ts';

const { wallet, signer } = testWallet('regtest');
const leafScript = orderLeaf(wallet, 3);
const own = { key: { branch: 0, index: 3 } as const, leafScript };
const { script } = wallet.addressOf(own);
const destination = Uint8Array.of(0, 20, ...new Uint8Array(20));
const outputsOf = (values: readonly bigint[]) =>
  values.map((value, vout) => ({ txid: asTxid(createHash('sha256').update('paid').digest()), vout, value }));

describe('outputs at an address', () => {
  test('are taken to the last sat, except for the fee and outputs that cost more than they hold', () => {
    const values = fc.array(fc.bigInt({ min: 1n, max: 10n ** 9n }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(values, fc.bigInt({ min: 1n, max: 500_000n }), (all, feeRate) => {
        const cost = (58n * feeRate) / 1000n;
        const order = { own, script, outputs: outputsOf(all), destination, feeRate };
        let taken: ReturnType<typeof takeBackPlan>;
        try {
          taken = takeBackPlan(order);
        } catch (error) {
          expect((error as AppError).code).toBe('recovery_refused');
          return;
        }
        const { plan, left } = taken;
        expect(plan.inputs.length + left).toBe(all.length);
        for (const { value } of plan.inputs) expect(value).toBeGreaterThan(cost);
        const { fee } = signer.signPlan(
          plan,
          plan.inputs.map(() => unknownHoldings),
        );
        const vsize = BigInt(Math.ceil(plannedWeight(plan) / 4));
        expect(fee).toBe((vsize * feeRate + 999n) / 1000n);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('are left if there are none, or too few sats', () => {
    const order = { own, script, destination, feeRate: 1000n };
    expect(() => takeBackPlan({ ...order, outputs: [] })).toThrow(/no confirmed output/u);
    // the fee of 99 virtual bytes
    const least = BigInt(dustOf(destination)) + 99n;
    expect(() => takeBackPlan({ ...order, outputs: outputsOf([least - 1n]) })).toThrow(/too few/u);
    expect(takeBackPlan({ ...order, outputs: outputsOf([least]) }).plan.outputs[0]!.value).toBe(294n);
  });

  test('are taken 200 outputs at a time, the largest first', () => {
    const outputs = outputsOf(Array.from({ length: 300 }, (_, place) => 1000n + BigInt(place)));
    const { plan, left } = takeBackPlan({ own, script, outputs, destination, feeRate: 1000n });
    expect([plan.inputs.length, left]).toEqual([200, 100]);
    expect(plan.inputs[0]!.value).toBe(1100n);
    // the largest outputs pay the fee
    expect(plan.inputs.at(-1)!.value).toBe(1299n);
    expect(signer.signPlan(plan, plainInputs(plan)).weight).toBe(plannedWeight(plan));
  });
});

test('a fee charge is taken back by its kit, with a fee for its own weight', () => {
  const charge = { key: { branch: 3, index: 3 } as const, leafScript: null };
  const kit = recoveryKit(wallet, charge);
  const outputs = outputsOf([50_000n, 69n, 68n]);
  const order = { own: ownScriptOf(kit), script: wallet.addressOf(charge).script, destination };
  const { plan, left } = takeBackPlan({ ...order, outputs, feeRate: 1000n });
  // an input has 271 weight units, so it costs 68 sats
  expect([plan.inputs.map(({ value }) => value), left]).toEqual([[69n, 50_000n], 1]);
  expect(signer.signPlan(plan, plainInputs(plan)).weight).toBe(plannedWeight(plan));
});

test('a kit that names another key or leaf signs nothing', () => {
  const kit = recoveryKit(wallet, own);
  for (const wrong of [
    { leafScript: null },
    { keyPath: "m/86'/1'/0'/0/4" },
    { keyPath: "m/86'/1'/0'/1/3" },
  ]) {
    const claimed = ownScriptOf({ ...kit, ...wrong });
    const outputs = outputsOf([50_000n]);
    const { plan } = takeBackPlan({ own: claimed, script, outputs, destination, feeRate: 1000n });
    expect(() => signer.signPlan(plan, plainInputs(plan))).toThrow(AppError);
  }
});
