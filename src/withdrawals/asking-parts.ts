import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import { type NodePolicy, readNodePolicy } from '#orders/sending/node-policy.store.ts';
import { usualFeeRate } from '#orders/sending/node-standing.ts';
import type { FeeRates } from '#tokenpay/withdrawing/withdrawal-policy.ts';

/**
 * The fee rates that batches pay, from the node's responses within the last hour. Throws `orders_off` if there was no
 * response.
 */
export async function withdrawalFeeRates(client: pg.Pool | pg.ClientBase): Promise<FeeRates> {
  const policy = await readNodePolicy(client);
  if (policy === null)
    throw new AppError(
      'orders_off',
      'this service makes no withdrawals now, because its node has not reported fee rates within the last hour',
    );
  return feeRatesOf(policy);
}

/**
 * Computes the fee rates. No rate is below the node's present minimum, because each batch pays at least that minimum.
 * Pure.
 */
export function feeRatesOf({ leastFeeRate, mempoolMinFeeRate, estimate }: NodePolicy): FeeRates {
  const least = largest(leastFeeRate, mempoolMinFeeRate);
  return { least, usual: largest(estimate ?? 0n, least, usualFeeRate) };
}
