import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { lockOrder } from '#orders/order/order.store.ts';
import { refundWatcherOf } from '#orders/order/watchers.ts';
import { unwatchScripts } from '#payments/store/watches.store.ts';
import { ordersWithDeepRefunds, settleRefunds } from './refund-watches.store.ts';

/** Orders of one look: each is a transaction of some milliseconds. */
const endedAtOnce = 100;

/**
 * Ends the watches of refunds that are as deep as payments remember blocks: their addresses belong to others, exchanges
 * too, and everything that anybody pays to them would be kept for ever. That the refund is in a block is noted with it.
 * How many ended.
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
