import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { lockPayout, putState } from '#payouts/payout/payout.store.ts';
import type { Payout } from '#payouts/payout/payout.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { readHold, requireNotPaid } from '#purse/holding/payment-hold.store.ts';

/**
 * Cancels a payout that has no signed transaction. Its shares are then owed again. Throws `payouts_refuses`.
 *
 * @param onCancelled stores more data in the same transaction
 * @param isNotPaid whether the operator knows that no transaction after a restored backup paid the payout
 */
export function cancelPayout(
  pool: pg.Pool,
  id: string,
  onCancelled: OnCancelled,
  isNotPaid = false,
): Promise<void> {
  return withTransaction(pool, (tx) => cancelPayoutIn(tx, id, onCancelled, isNotPaid));
}

type OnCancelled = (tx: pg.ClientBase, id: string) => Promise<void>;

/** Does the work of `cancelPayout` in a transaction of the caller. */
export async function cancelPayoutIn(
  tx: pg.ClientBase,
  id: string,
  onCancelled: OnCancelled,
  isNotPaid = false,
): Promise<void> {
  const { state } = await lockCancellable(tx, id, isNotPaid);
  if (state === 'cancelled') return;
  await putState(tx, id, 'cancelled');
  await onCancelled(tx, id);
}

/**
 * Locks a payout that is cancelled, or that has no signed transaction. While payments are on hold after a restore, also
 * a payout whose transactions were all given up, because a transaction that the backup does not know has spent their
 * coins. Throws `payouts_refuses`, and `restored_on_hold` while payments are on hold, unless the payout was not paid.
 */
export async function lockCancellable(tx: pg.ClientBase, id: string, isNotPaid = false): Promise<Payout> {
  const payout = await lockPayout(tx, id);
  if (payout === null) throw new AppError('payouts_refuses', `There is no payout ${id}.`);
  if (payout.kind === 'withdrawal')
    throw new AppError(
      'payouts_refuses',
      `The payout ${id} is a batch of withdrawals. Cancel its withdrawals one by one with satscribe tokenpay withdrawals cancel.`,
    );
  if (payout.state === 'cancelled') return payout;
  const transactions = await readPayoutTransactions(tx, id);
  const mayBeMined = transactions.some(({ isSuperseded }) => !isSuperseded);
  const isFree = transactions.length === 0 || (!mayBeMined && (await readHold(tx)) !== null);
  if (payout.state !== 'asked' || !isFree)
    throw new AppError(
      'payouts_refuses',
      `The payout ${id} is ${payout.state}. One of its transactions was signed and may still be mined.`,
    );
  await requireNotPaid(tx, `The payout ${id}`, `satscribe payouts cancel ${id}`, isNotPaid);
  return payout;
}
