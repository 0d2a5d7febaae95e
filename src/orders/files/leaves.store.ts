import type pg from 'pg';
import { timeOfBlock } from '#chain/blocks/index-tip.queries.ts';
import { paymentsTipHeight } from '#payments/store/offset.store.ts';
import { keptAfterExpiry } from './file.store.ts';

/**
 * SQL: whether the order `o` can no longer be delivered. Its time is long over, also by the time of the last block that
 * was searched for payments; its state has not changed since; and it has no transaction that inscribes. Refused
 * requests do not count as events, because anyone can send them.
 */
const isUnpaid = `o.leaves_deleted_at IS NULL AND o.state IN ('expired', 'cancelled', 'waiting-refund', 'refunded')
  AND o.expires_at < now() - interval '${keptAfterExpiry}'
  AND o.expires_at < ${timeOfBlock(paymentsTipHeight)} - interval '${keptAfterExpiry}'
  AND NOT EXISTS (SELECT FROM service.order_events AS e
                   WHERE e.order_id = o.id AND e.to_state IS NOT NULL AND e.at > now() - interval '${keptAfterExpiry}')
  AND NOT EXISTS (SELECT FROM service.wallet_transactions AS t
                   WHERE t.order_id = o.id AND t.kind NOT IN ('refund', 'return'))`;

/** Unpaid orders that still have leaves; those that expired first. */
export async function unpaidWithLeaves(client: pg.ClientBase, limit: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT o.id FROM service.orders AS o WHERE ${isUnpaid} ORDER BY o.expires_at LIMIT $1`,
    [limit],
  );
  return rows.map(({ id }) => id);
}

/** Whether an order, which the caller has locked, is still unpaid. */
export async function isStillUnpaid(tx: pg.ClientBase, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(`SELECT FROM service.orders AS o WHERE o.id = $1 AND ${isUnpaid}`, [
    id,
  ]);
  return rowCount === 1;
}

/**
 * Deletes the leaves of an order. Its row and its keys stay.
 *
 * @param leafHash hash of the leaf that its address commits to; null: the address has no leaf
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

/** Time after which no one is likely to ask for a deleted file: until then the answer is that it was deleted (410). */
const rowsKeptAfterLeaves = '23 days';

/** Deletes file rows of orders whose leaves were deleted long ago. Returns the number of orders. */
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
