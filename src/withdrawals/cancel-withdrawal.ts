import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { lockPayout } from '#payouts/payout/payout.store.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { cancelWishes, endWithdrawal } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { tellAccounts } from './settle-batch.ts';

/**
 * Ends a withdrawal that can no longer be mined, and notifies its account. Waits while a transaction of the
 * withdrawal's batch is being stored. Returns null if the withdrawal is no longer pending.
 */
export async function cancelWithdrawal(
  tx: pg.ClientBase,
  { id, payout }: Pick<Withdrawal, 'id' | 'payout'>,
  reason: string,
): Promise<Withdrawal | null> {
  if (payout !== null) await lockPayout(tx, payout);
  const ended = await endWithdrawal(tx, id, reason);
  if (ended !== null) await tellAccounts(tx, [ended]);
  return ended;
}

/**
 * Maximum number of cancellations in one round. Each cancellation is a transaction of some milliseconds. The rest waits
 * for the next round.
 */
const wishesMax = 500;

/** Cancels withdrawals that accounts asked to cancel. Skips a withdrawal if a transaction with it was signed since. */
export async function cancelWished(client: pg.ClientBase): Promise<void> {
  for (const withdrawal of await cancelWishes(client, wishesMax))
    await withTransaction(client, (tx) => cancelWithdrawal(tx, withdrawal, 'Its account cancelled it.'));
}
