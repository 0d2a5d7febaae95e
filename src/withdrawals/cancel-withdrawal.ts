import type pg from 'pg';
import { lockPayout } from '#payouts/payout/payout.store.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { endWithdrawal } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { tellAccounts } from './settle-batch.ts';

/**
 * Ends a withdrawal of which nothing was ever signed, and tells its account. It waits for a transaction that is just being
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
