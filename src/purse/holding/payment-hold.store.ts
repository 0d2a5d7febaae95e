import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';

/** Payments to others wait from a restore until the operator releases them (ADR 103). */
export interface PaymentHold {
  readonly beganAt: Date;
  /** The time of the restored backup. */
  readonly backupAt: Date;
  /** Height of the last block that the backup was scanned to for payments, or null if no block was scanned. */
  readonly height: number | null;
  /**
   * Ends of the indices that each restored backup may have shown. The first one is of the backup that began the hold.
   */
  readonly ends: readonly [BranchEnds, ...BranchEnds[]];
}

/** The reason that people and accounts read while a payment waits. */
export const heldReason =
  'The database of this service was restored from a backup, so payments are on hold. The payment is made after the operator releases it.';

/** The text for the operator while payments are on hold. */
export const holdText = ({ backupAt }: Pick<PaymentHold, 'backupAt'>): string =>
  `The database was restored from a backup of ${backupAt.toISOString()}, so payouts, withdrawals and refunds wait. Run satscribe payouts held, and then satscribe payouts release.`;

/** Reads the hold that is active now. Returns null if payments are not on hold. */
export async function readHold(client: pg.Pool | pg.ClientBase): Promise<PaymentHold | null> {
  const { rows } = await client.query<{
    began_at: Date;
    backup_at: Date;
    height: number | null;
    orders_end: number;
    own_end: number;
    fees_end: number;
    later_ends: BranchEnds[];
  }>(
    `SELECT began_at, backup_at, height, orders_end, own_end, fees_end, later_ends
       FROM service.payment_holds WHERE released_at IS NULL`,
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    beganAt: row.began_at,
    backupAt: row.backup_at,
    height: row.height,
    ends: [{ orders: row.orders_end, own: row.own_end, fees: row.fees_end }, ...row.later_ends],
  };
}

/** A restore that begins a hold. */
export interface HoldingRestore extends Pick<PaymentHold, 'backupAt' | 'height'> {
  /** Ends of the indices that the backup may have shown. */
  readonly ends: BranchEnds;
}

/**
 * Begins a hold. An active hold is of an earlier restore. It keeps its backup and its height, and gets the ends of this
 * backup in addition, because the service has shown other addresses between the two.
 */
export async function beginHold(tx: pg.ClientBase, restore: HoldingRestore): Promise<void> {
  const { backupAt, height, ends } = restore;
  const { orders, own, fees } = ends;
  await tx.query(
    `INSERT INTO service.payment_holds AS h (backup_at, height, orders_end, own_end, fees_end)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT ((released_at IS NULL)) WHERE released_at IS NULL DO UPDATE
        SET height = least(h.height, excluded.height),
            later_ends = CASE
              WHEN (h.orders_end, h.own_end, h.fees_end) = (excluded.orders_end, excluded.own_end, excluded.fees_end)
                OR h.later_ends @> $6::jsonb THEN h.later_ends
              ELSE h.later_ends || $6::jsonb END`,
    [backupAt, height, orders, own, fees, JSON.stringify([{ orders, own, fees }])],
  );
}

/**
 * Releases the active hold. Returns false if payments were not on hold.
 *
 * @param done numbers of payments that were booked because the chain has them, and of payments that are made now
 */
export async function endHold(
  tx: pg.ClientBase,
  done: { readonly booked: number; readonly released: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE service.payment_holds SET released_at = now(), booked = $1, released = $2 WHERE released_at IS NULL`,
    [done.booked, done.released],
  );
  return rowCount === 1;
}

/**
 * Throws `restored_on_hold` if payments are on hold. A check before a payment is stored, beside those of its planner.
 */
export async function requireNoHold(tx: pg.ClientBase): Promise<void> {
  if ((await readHold(tx)) !== null) throw new AppError('restored_on_hold', heldReason);
}

/**
 * Throws `restored_on_hold` if payments are on hold, unless the operator has compared the payment with the chain. A
 * cancelled payment is owed again, so its receiver would be paid twice if it was made after the backup.
 *
 * @param what the payment, at the start of a sentence
 * @param command the command that cancels it
 */
export async function requireNotPaid(
  tx: pg.ClientBase,
  what: string,
  command: string,
  isNotPaid: boolean,
): Promise<void> {
  if (isNotPaid || (await readHold(tx)) === null) return;
  throw new AppError(
    'restored_on_hold',
    `${what} may have been paid after the backup that was restored. If it is cancelled, its money is owed again, and would be paid twice. Read satscribe payouts held. If no found transaction made the payment, cancel it with ${command} --not-paid.`,
  );
}
