import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { lockPayout } from '#payouts/payout/payout.store.ts';
import { requireNotPaid } from '#purse/holding/payment-hold.store.ts';
import { notCancelled } from '#tokenpay/withdrawing/asking-faults.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { cancelWishes, endWithdrawal, readWithdrawal } from '#tokenpay/withdrawing/withdrawals.store.ts';
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
 * Ends a withdrawal for an operator, in a transaction of the caller. Throws `tokenpay_withdrawal_unknown`, and
 * `tokenpay_withdrawal_refuses` if a transaction with the withdrawal may be mined. Throws `restored_on_hold` while
 * payments are on hold, unless the operator knows that the withdrawal was not paid.
 */
export async function cancelForOperator(
  tx: pg.ClientBase,
  id: string,
  reason: string,
  isNotPaid = false,
): Promise<Withdrawal> {
  const found = await requireWithdrawal(tx, id);
  const command = `satscribe tokenpay withdrawals cancel ${id}`;
  if (found.state === 'pending') await requireNotPaid(tx, `The withdrawal ${id}`, command, isNotPaid);
  const ended = await cancelWithdrawal(tx, found, reason);
  // the withdrawal may have been signed since it was read
  if (ended === null) throw notCancelled((await readWithdrawal(tx, null, id)) ?? found);
  return ended;
}

/** Reads a withdrawal of any account. Throws `tokenpay_withdrawal_unknown`. */
export async function requireWithdrawal(client: pg.Pool | pg.ClientBase, id: string): Promise<Withdrawal> {
  const found = await readWithdrawal(client, null, id);
  if (found === null) throw new AppError('tokenpay_withdrawal_unknown', `There is no withdrawal ${id}.`);
  return found;
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
