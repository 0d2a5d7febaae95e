import type pg from 'pg';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { frameWeight, outputWeight } from '#kernel/bitcoin/transaction-size.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { insertBatch, lockPayout } from '#payouts/payout/payout.store.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { leaveBatch, putBatch } from '#tokenpay/withdrawing/withdrawals.store.ts';
import type { BatchPolicy } from './batch-policy.ts';
import { partBatch } from './end-batch.ts';
import { tellAccounts } from './settle-batch.ts';
import type { ReadyBatch } from './store-batch.ts';

/** The reason that is shown if a batch costs more than allowed. */
export const tooCostly =
  'The transaction now costs more than the prices of its withdrawals and the maximum that the service adds (WITHDRAW_BUMP_MAX_SATS). The withdrawal waits for lower fees, or for larger change of other withdrawals. To get it sooner, cancel it and ask again at the present price.';

/**
 * Splits a batch that costs more than the prices of its withdrawals. Withdrawals that cost too much even alone were
 * priced at a lower rate. They wait together in another batch, and the rest is planned again. If the cause is unknown,
 * each withdrawal is tried alone. If the batch is not split, returns the reason why it waits.
 */
export async function partCostly(
  client: pg.ClientBase,
  ready: Pick<ReadyBatch, 'payout' | 'transactions' | 'replaced' | 'withdrawals'>,
  feeRate: bigint,
  policy: Pick<BatchPolicy, 'bumpMax'>,
): Promise<string | null> {
  const { payout, withdrawals } = ready;
  const poor = underpriced(withdrawals, feeRate, policy);
  if (poor.length === withdrawals.length) return tooCostly;
  if (poor.length === 0) return partBatch(client, ready, withdrawals, tooCostly);
  await withTransaction(client, async (tx) => {
    if ((await lockPayout(tx, payout.id))?.state !== 'asked') return;
    const ids = poor.map(({ id }) => id);
    await tellAccounts(tx, await leaveBatch(tx, payout.id, ids, true));
    await putBatch(tx, ids, await insertBatch(tx, payout.feeRate));
  });
  return null;
}

/**
 * Withdrawals whose price plus the allowed extra cost of a batch is below the fee of their smallest possible
 * transaction.
 */
export function underpriced(
  withdrawals: readonly Withdrawal[],
  feeRate: bigint,
  { bumpMax }: Pick<BatchPolicy, 'bumpMax'>,
): readonly Withdrawal[] {
  return withdrawals.filter(
    ({ fee, script }) =>
      fee + bumpMax < feeOf(frameWeight(1, 1) + keyInputWeight + outputWeight(script), feeRate),
  );
}
