import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { beginHold } from '#purse/holding/payment-hold.store.ts';
import { type BranchEnds, endsAt } from '#wallet/indices/branch-ends.ts';
import { readRelease } from '#wallet/indices/release.store.ts';

/**
 * Puts payments to others on hold. Payments since the last block of the loaded rows are unknown.
 *
 * @param ends ends of the indices that the backup may have shown
 */
export async function holdPayments(tx: pg.ClientBase, backupAt: Date, ends: BranchEnds): Promise<void> {
  const height = (await readPaymentsOffset(tx))?.height ?? null;
  await beginHold(tx, { backupAt, height, ends });
}

/** Puts payments on hold in a database that was restored by other means than a backup, as of now. */
export function holdRestored(pool: pg.Pool): Promise<void> {
  return withTransaction(pool, async (tx) =>
    holdPayments(tx, new Date(), (await readRelease(tx))?.released ?? endsAt(0)),
  );
}
