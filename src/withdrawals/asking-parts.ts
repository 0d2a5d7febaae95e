import type pg from 'pg';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import { ordersChannel } from '#orders/order/order-wishes.store.ts';
import { readNodePolicy } from '#orders/sending/node-policy.store.ts';
import { usualFeeRate } from '#orders/sending/node-standing.ts';
import { usualRate } from '#payouts/asking/ask-revenue.ts';
import type { FeeRates } from '#tokenpay/withdrawing/account-withdrawals.ts';

/** Rates by what the node said within the last hour, as batches pay them. */
export async function withdrawalFeeRates(client: pg.Pool | pg.ClientBase): Promise<FeeRates> {
  const policy = await readNodePolicy(client);
  if (policy === null) return { least: usualFeeRate, usual: usualRate };
  const { leastFeeRate: least, estimate } = policy;
  return { least, usual: largest(estimate ?? 0n, least, usualFeeRate) };
}

/** Wakes the process that signs, once the transaction commits. */
export async function wakeSigner(tx: pg.ClientBase): Promise<void> {
  await tx.query(`SELECT pg_notify('${ordersChannel}', '')`);
}
