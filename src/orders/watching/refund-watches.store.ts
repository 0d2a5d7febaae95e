import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { lockOrder } from '#orders/order/order.store.ts';
import { rememberedBlocks } from '#payments/store/offset.store.ts';
import { unwatchScripts } from '#payments/store/watches.store.ts';
import { noteDeepBlocks } from '#purse/transactions/deep-blocks.store.ts';
import { refundWatcherOf } from './watchers.ts';

/** Maximum number of orders per round. Each order needs a database transaction of some milliseconds. */
const endedAtOnce = 100;

/**
 * Stops watching the destinations of deep refunds, and stores the blocks of these refunds. A refund is deep if its
 * block is older than all blocks that payments remember. The addresses belong to other people, for example to
 * exchanges. If they stayed watched, every later payment to them would be stored forever. Returns the number of orders.
 */
export async function endRefundWatches(client: pg.ClientBase): Promise<number> {
  const ids = await ordersWithDeepRefunds(client, endedAtOnce);
  for (const id of ids) {
    await withTransaction(client, async (tx) => {
      await lockOrder(tx, id);
      const hasOthers = await settleRefunds(tx, id);
      if (!hasOthers) await unwatchScripts(tx, refundWatcherOf(id));
    });
  }
  return ids.length;
}

/** Orders that have a deep refund or return, below all blocks that payments remember. */
async function ordersWithDeepRefunds(client: pg.ClientBase, limit: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT DISTINCT t.order_id AS id
       FROM service.wallet_transactions AS t JOIN service.payments_seen AS p ON p.txid = t.txid, service.payments_offset AS o
      WHERE t.kind IN ('return', 'refund') AND t.height IS NULL AND p.height <= o.height - $1 LIMIT $2`,
    [rememberedBlocks, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Stores the blocks of an order's deep refunds and returns. Returns whether the order has other refunds or returns that
 * are not deep yet.
 */
async function settleRefunds(tx: pg.ClientBase, id: string): Promise<boolean> {
  await noteDeepBlocks(tx, { kind: 'closings', id });
  const { rowCount } = await tx.query(
    `SELECT FROM service.wallet_transactions
      WHERE order_id = $1 AND kind IN ('return', 'refund') AND height IS NULL AND superseded_at IS NULL`,
    [id],
  );
  return rowCount !== 0;
}

/** Orders that own these transactions. */
export async function ordersOfTransactions(
  client: pg.ClientBase,
  txids: readonly Txid[],
): Promise<ReadonlySet<string>> {
  if (txids.length === 0) return new Set();
  const { rows } = await client.query<{ id: string }>(
    'SELECT DISTINCT order_id AS id FROM service.wallet_transactions WHERE txid = ANY($1) AND order_id IS NOT NULL',
    [txids.map((txid) => Buffer.from(txid))],
  );
  return new Set(rows.map(({ id }) => id));
}
