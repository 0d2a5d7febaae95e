import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { lockPayout } from '#payouts/payout/payout.store.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { cancelWishes, endWithdrawal } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { tellAccounts } from './settle-batch.ts';

/**
 * Ends a withdrawal of which nothing can be mined, and tells its account. It waits for a transaction that is just being
 * stored for its batch. Null: it is not pending any more.
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

/** Wishes that one look grants: each is a transaction of some milliseconds. The rest waits for the next look. */
const wishesMax = 500;

/** Cancels what accounts want cancelled: nothing of it is signed since they asked. */
export async function cancelWished(client: pg.ClientBase): Promise<void> {
  for (const withdrawal of await cancelWishes(client, wishesMax))
    await withTransaction(client, (tx) => cancelWithdrawal(tx, withdrawal, 'Its account cancelled it.'));
}
