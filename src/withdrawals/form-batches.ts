import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { insertBatch, noteStuck, unsignedBatches } from '#payouts/payout/payout.store.ts';
import { readHold } from '#purse/holding/payment-hold.store.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import {
  hasUnbatched,
  lockUnbatched,
  putBatch,
  withdrawalsOf,
} from '#tokenpay/withdrawing/withdrawals.store.ts';
import { cancelWished } from './cancel-withdrawal.ts';

/**
 * Maximum number of withdrawals of one batch. A batch with 500 P2TR outputs and 500 inputs has 50,000 virtual bytes,
 * which is half of the maximum of a payout.
 */
export const batchMax = 500;

/**
 * Cancels withdrawals that accounts asked to cancel. Puts waiting withdrawals into batches, one batch for each fee
 * rate. Uses an existing batch without a signed transaction, or makes a new batch. A withdrawal that must be alone gets
 * its own batch. While payments are on hold, does nothing: a cancellation would return units that may have been paid.
 */
export async function formBatches(client: pg.ClientBase): Promise<void> {
  if ((await readHold(client)) !== null) return;
  await cancelWished(client);
  if (!(await hasUnbatched(client))) return;
  await withTransaction(client, async (tx) => {
    const waiting = await lockUnbatched(tx, batchMax);
    const together = waiting.filter(({ isAlone }) => !isAlone);
    for (const { id, feeRate } of waiting.filter(({ isAlone }) => isAlone))
      await putBatch(tx, [id], await insertBatch(tx, feeRate));
    const byRate = Map.groupBy(together, ({ feeRate }) => feeRate);
    for (const [feeRate, of] of byRate) await fill(tx, feeRate, of);
  });
}

/** Fills one batch. Withdrawals that do not fit wait for the next round. */
async function fill(
  tx: pg.ClientBase,
  feeRate: bigint | null,
  waiting: readonly Withdrawal[],
): Promise<void> {
  for (const batch of await unsignedBatches(tx)) {
    if (batch.feeRate !== feeRate) continue;
    const members = await withdrawalsOf(tx, batch.id);
    if (members.some(({ isAlone }) => isAlone) || members.length >= batchMax) continue;
    await putBatch(tx, idsOf(waiting.slice(0, batchMax - members.length)), batch.id);
    // try the batch at once, because the reason that delays its other withdrawals may not apply to the new withdrawals
    return noteStuck(tx, batch.id, null);
  }
  await putBatch(tx, idsOf(waiting), await insertBatch(tx, feeRate));
}

const idsOf = (withdrawals: readonly Withdrawal[]): string[] => withdrawals.map(({ id }) => id);
