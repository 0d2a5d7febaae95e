import type pg from 'pg';
import { timeOfBlock } from '#chain/blocks/index-tip.queries.ts';
import { paymentsTipHeight } from '#payments/store/offset.store.ts';
import { keptAfterExpiry } from './file.store.ts';

/**
 * SQL: whether the order `o` can no longer be delivered. Its time must be long over, both by the clock and by the time
 * of the last block that was searched for payments. Its state must not have changed recently. It must have no
 * transaction that inscribes. Events of refused requests are ignored, because anyone can send such requests.
 */
const isUnpaid = `o.leaves_deleted_at IS NULL AND o.state IN ('expired', 'cancelled', 'waiting-refund', 'refunded')
  AND o.expires_at < now() - interval '${keptAfterExpiry}'
  AND o.expires_at < ${timeOfBlock(paymentsTipHeight)} - interval '${keptAfterExpiry}'
  AND NOT EXISTS (SELECT FROM service.order_events AS e
                   WHERE e.order_id = o.id AND e.to_state IS NOT NULL AND e.at > now() - interval '${keptAfterExpiry}')
  AND NOT EXISTS (SELECT FROM service.wallet_transactions AS t
                   WHERE t.order_id = o.id AND t.kind NOT IN ('refund', 'return'))`;

/** Unpaid orders that still have leaves, sorted by expiry, oldest first. */
export async function unpaidWithLeaves(client: pg.ClientBase, limit: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT o.id FROM service.orders AS o WHERE ${isUnpaid} ORDER BY o.expires_at LIMIT $1`,
    [limit],
  );
  return rows.map(({ id }) => id);
}

/** Whether an order is still unpaid. The caller must have locked the order. */
export async function isStillUnpaid(tx: pg.ClientBase, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(`SELECT FROM service.orders AS o WHERE o.id = $1 AND ${isUnpaid}`, [
    id,
  ]);
  return rowCount === 1;
}

/**
 * Deletes the leaves of an order. The order's row and keys are kept.
 *
 * @param leafHash hash of the leaf to which the order's address commits; null if the address has no leaf
 */
export async function deleteLeaves(
  tx: pg.ClientBase,
  id: string,
  leafHash: Uint8Array | null,
): Promise<void> {
  await tx.query('UPDATE service.orders SET leaf_hash = $2, leaves_deleted_at = now() WHERE id = $1', [
    id,
    leafHash === null ? null : Buffer.from(leafHash),
  ]);
  await tx.query('DELETE FROM service.order_leaves WHERE order_id = $1', [id]);
}

/**
 * How long file rows are kept after the leaves were deleted. During this time, requests of a file are answered with 410
 * (deleted); later, no one is likely to request it.
 */
const rowsKeptAfterLeaves = '23 days';

/** Deletes the file rows of orders whose leaves were deleted long ago. Returns the number of these orders. */
export async function deleteUnpaidFiles(client: pg.ClientBase, limit: number): Promise<number> {
  const { rowCount } = await client.query(
    `WITH over AS (SELECT id FROM service.orders
                    WHERE files_deleted_at IS NULL AND leaves_deleted_at < now() - interval '${rowsKeptAfterLeaves}'
                    ORDER BY leaves_deleted_at LIMIT $1 FOR UPDATE),
          gone AS (DELETE FROM service.order_files AS f USING over WHERE f.order_id = over.id)
     UPDATE service.orders AS o SET files_deleted_at = now() FROM over WHERE o.id = over.id`,
    [limit],
  );
  return rowCount ?? 0;
}
