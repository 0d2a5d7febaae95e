import type pg from 'pg';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { readOrder } from '#orders/order/order.store.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { readTransactions } from '#orders/order/order-transactions.store.ts';
import { depositWatcherOf, watcherOf } from '#orders/watching/watchers.ts';
import { readPaymentsOf } from '#payments/payments.queries.ts';

/**
 * Maximum number of payments to read, the largest first. Anyone may send thousands of small payments to an order, but a
 * customer makes only a few.
 */
const paymentsMax = 20;

/**
 * Reads the transactions of an order that may be unconfirmed. These are payments and deposits of parents that are not
 * in a block, and transactions that the service sent for the order. Returns null if there is no order with this id.
 */
export async function transactionsOfOrder(
  client: pg.Pool | pg.ClientBase,
  orderId: string,
): Promise<readonly TxidHex[] | null> {
  if (!isOrderId(orderId) || (await readOrder(client, orderId)) === null) return null;
  const watchers = [watcherOf(orderId), depositWatcherOf(orderId)];
  const payments = [...(await readPaymentsOf(client, watchers)).values()].flat();
  const waiting = payments
    .filter(({ block, goneAt }) => block === null && goneAt === null)
    .toSorted((a, b) => (a.value === b.value ? 0 : a.value < b.value ? 1 : -1))
    .slice(0, paymentsMax);
  const sent = (await readTransactions(client, orderId)).filter(
    ({ sentAt, height }) => sentAt !== null && height === null,
  );
  return [...new Set([...waiting, ...sent].map(({ txid }) => displayHash(txid)))];
}
