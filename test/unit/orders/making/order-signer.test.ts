import { expect, test } from 'vitest';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { orderSigner } from '#orders/making/order-signer.ts';
import { inputOf, plainInputs, testWallet } from '#test/support/wallet/plans.ts';

test('signs a plan in turns of the event loop, one for each input, with the same result', async () => {
  const { wallet, signer } = testWallet();
  const own = { key: { branch: 0, index: 5 }, leafScript: null } as const;
  const inputs = Array.from({ length: 60 }, (_, place) =>
    inputOf(wallet, place, { ...own, value: 2000n, path: 'key' }),
  );
  const script = Uint8Array.of(0, 20, ...new Uint8Array(20).fill(1));
  const plan: TransactionPlan = {
    version: 2,
    lockTime: 0,
    inputs,
    outputs: [{ kind: 'refund', script, value: 100_000n }],
    feeMax: 20_000n,
  };
  let turns = 0;
  let isSigned = false;
  const count = (): void => {
    turns++;
    if (!isSigned) setImmediate(count);
  };
  setImmediate(count);
  const { txid, bytes } = await orderSigner(wallet, signer).signPlan(plan, plainInputs(plan));
  isSigned = true;
  expect(turns).toBeGreaterThanOrEqual(inputs.length);
  const atOnce = signer.signPlan(plan, plainInputs(plan));
  expect([...txid]).toEqual([...atOnce.txid]);
  expect(bytes).toHaveLength(atOnce.bytes.length);
});
