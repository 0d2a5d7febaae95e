import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { MadeBatch } from '#payouts/following/payout-parts.ts';
import { lockPayout, putState } from '#payouts/payout/payout.store.ts';
import type { PlannedBatch } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { endWithdrawal, leaveBatch, withdrawalsOf } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { refusedWords, waitingReason } from './plan-batch.ts';
import { tellAccounts } from './settle-batch.ts';

/** Ends a batch if all its withdrawals were cancelled. */
export async function endEmpty(client: pg.ClientBase, id: string): Promise<null> {
  await withTransaction(client, async (tx) => {
    const locked = await lockPayout(tx, id);
    if (locked?.state === 'asked' && (await withdrawalsOf(tx, id)).length === 0)
      await putState(tx, id, 'cancelled');
  });
  return null;
}

/**
 * Ends withdrawals that can never be sent in their present form. Other withdrawals wait. If the batch has a signed
 * transaction, no withdrawal ends. Returns the reason why the batch waits, or null.
 */
export async function endRefused(
  client: pg.ClientBase,
  { payout: { id }, transactions }: Pick<MadeBatch, 'payout' | 'transactions'>,
  planned: PlannedBatch,
): Promise<string | null> {
  if (planned.refused.length === 0 || transactions.length > 0) return waitingReason(planned);
  await withTransaction(client, async (tx) => {
    if ((await lockPayout(tx, id))?.state !== 'asked') return;
    await endThose(tx, planned);
  });
  return planned.waiting.length === 0 ? endEmpty(client, id) : waitingReason(planned);
}

/** Ends withdrawals that a plan refuses, and notifies their accounts. */
export async function endThose(tx: pg.ClientBase, { refused }: PlannedBatch): Promise<void> {
  const ended: Withdrawal[] = [];
  for (const { id, refusal } of refused) {
    const found = await endWithdrawal(
      tx,
      id,
      `The withdrawal cannot be sent, because ${refusedWords(refusal.code)}. The amount is in the balance again.`,
    );
    if (found !== null) ended.push(found);
  }
  await tellAccounts(tx, ended);
}

/**
 * Moves each withdrawal of a batch that cannot be made into its own batch, so that one withdrawal does not stop the
 * others. A batch whose transaction was given up keeps its first withdrawal. A block may still contain that
 * transaction, so the batch must be followed. If the batch has only one withdrawal, or if its transaction may be mined,
 * does nothing and returns the reason why the batch waits.
 */
export async function partBatch(
  client: pg.ClientBase,
  { payout, transactions, replaced }: Pick<MadeBatch, 'payout' | 'transactions' | 'replaced'>,
  withdrawals: readonly Withdrawal[],
  reason: string,
): Promise<string | null> {
  if (withdrawals.length === 1 || replaced !== null) return reason;
  const isFresh = transactions.length === 0;
  const parted = (isFresh ? withdrawals : withdrawals.slice(1)).map(({ id }) => id);
  await withTransaction(client, async (tx) => {
    if ((await lockPayout(tx, payout.id))?.state !== 'asked') return;
    await tellAccounts(tx, await leaveBatch(tx, payout.id, parted, true));
    if (isFresh) await putState(tx, payout.id, 'cancelled');
  });
  return null;
}
