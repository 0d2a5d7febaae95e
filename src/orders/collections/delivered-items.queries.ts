import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';

/** An item of a collection that was inscribed for its buyer. */
export interface DeliveredItem {
  readonly inscription: InscriptionId;
  /** Number of the item in the collection. */
  readonly item: number;
}

/** The items of a collection whose orders are completed, in the sequence of their inscriptions. */
export async function readDeliveredItems(
  client: pg.ClientBase,
  collection: string,
): Promise<readonly DeliveredItem[]> {
  const { rows } = await client.query<{ txid: Txid; index: number; item: number }>({
    name: 'delivered mint items',
    text: `SELECT r.txid, n.index, m.numbers[r.before + n.index + 1] AS item
             FROM service.mint_orders AS m
             JOIN service.orders AS o ON o.id = m.order_id AND o.state = 'completed'
             CROSS JOIN LATERAL (
               -- a reveal that was given up alone had one file, as placeOf says
               SELECT t.txid, t.files, (sum(t.files) OVER reveals - t.files)::integer
                        + t.index - (row_number() OVER reveals - 1)::integer AS before
                 FROM service.wallet_transactions AS t
                WHERE t.order_id = m.order_id AND t.kind = 'reveal' AND t.superseded_at IS NULL
               WINDOW reveals AS (ORDER BY t.index)) AS r
             CROSS JOIN LATERAL generate_series(0, r.files - 1) AS n(index)
             LEFT JOIN chain.inscriptions AS i ON i.txid = r.txid AND i.index = n.index
            WHERE m.collection = $1 AND m.standing = 'allowed'
            ORDER BY i.key NULLS LAST, o.completed_at, m.order_id, r.before + n.index`,
    values: [collection],
  });
  return rows.map(({ txid, index, item }) => ({ inscription: { txid: trustedTxid(txid), index }, item }));
}

/** Number of items of a collection that were delivered by completed orders. */
export async function countDeliveredItems(client: pg.ClientBase, collection: string): Promise<number> {
  const { rows } = await client.query<{ items: number }>({
    name: 'count delivered mint items',
    text: `SELECT coalesce(sum(m.items), 0)::integer AS items FROM service.mint_orders AS m
             JOIN service.orders AS o ON o.id = m.order_id AND o.state = 'completed'
            WHERE m.collection = $1 AND m.standing = 'allowed'`,
    values: [collection],
  });
  return rows[0]?.items ?? 0;
}

/** Returns those of the given ids whose orders are completed. */
export async function completedAmong(
  client: pg.ClientBase,
  orderIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (orderIds.length === 0) return new Set();
  const { rows } = await client.query<{ id: string }>({
    name: 'completed among orders',
    text: `SELECT id FROM service.orders WHERE id = ANY($1::uuid[]) AND state = 'completed'`,
    values: [orderIds],
  });
  return new Set(rows.map(({ id }) => id));
}
