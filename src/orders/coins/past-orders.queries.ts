import type pg from 'pg';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { isFailedMint } from '#orders/minting/ordered-mints.store.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { depositWatcherOf, watcherOf } from '#orders/watching/watchers.ts';
import { readPaymentsOf, type WatchedPayment } from '#payments/payments.queries.ts';
import type { OrderCoinFacts } from './order-coins.ts';

/** An order with the facts of its coins. */
export interface PastOrder {
  readonly order: Pick<Order, 'id' | 'state' | 'amount' | 'keyIndex' | 'ownIndex'>;
  readonly facts: OrderCoinFacts;
}

/**
 * Reads orders with the facts of their coins. Processing these orders reads the same facts. The number of SQL
 * statements is fixed.
 */
export async function readPastOrders(client: pg.ClientBase, ids: readonly string[]): Promise<PastOrder[]> {
  const { rows } = await client.query<
    Pick<Order, 'id' | 'state'> & { amount: string; key_index: number; own_index: number }
  >(
    `SELECT id, state, amount::text AS amount, key_index, own_index FROM service.orders
      WHERE id = ANY($1::uuid[])`,
    [ids],
  );
  const payments = await readPaymentsOf(client, ids.map(watcherOf));
  const deposited = await readPaymentsOf(client, ids.map(depositWatcherOf));
  const deposits = await depositsOf(client, deposited);
  const transactions = await readLive(client, ids);
  return rows.map(({ id, state, amount, key_index: keyIndex, own_index: ownIndex }) => ({
    order: { id, state, amount: BigInt(amount), keyIndex, ownIndex },
    facts: {
      payments: payments.get(watcherOf(id)) ?? [],
      deposits: deposits.get(id) ?? [],
      transactions: transactions.get(id) ?? [],
    },
  }));
}

/** Payments to deposits, by order. Outputs of the orders' own transactions are left out. */
async function depositsOf(
  client: pg.ClientBase,
  payments: ReadonlyMap<string, readonly WatchedPayment[]>,
): Promise<Map<string, OrderCoinFacts['deposits'][number][]>> {
  const paid = [...payments.values()].flat();
  const deposits = new Map<string, OrderCoinFacts['deposits'][number][]>();
  if (paid.length === 0) return deposits;
  const { rows } = await client.query<{ place: number; order_id: string; key_index: number; script: Buffer }>(
    `SELECT g.place::integer - 1 AS place, d.order_id, d.key_index, d.script
       FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS g (txid, script, place)
       JOIN service.order_parents AS d ON d.script = g.script
      WHERE NOT EXISTS (SELECT FROM service.wallet_transactions AS t WHERE t.txid = g.txid AND t.order_id = d.order_id)
      ORDER BY g.place`,
    [paid.map(({ txid }) => Buffer.from(txid)), paid.map(({ script }) => Buffer.from(script))],
  );
  for (const { place, order_id: id, key_index: keyIndex, script } of rows) {
    const payment = paid[place];
    if (payment === undefined) continue;
    deposits.set(id, [...(deposits.get(id) ?? []), { payment, at: { keyIndex, script } }]);
  }
  return deposits;
}

async function readLive(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<Map<string, OrderCoinFacts['transactions'][number][]>> {
  const { rows } = await client.query<
    Pick<OrderTransaction, 'kind' | 'index' | 'plan'> & { order_id: string; txid: Buffer; is_failed: boolean }
  >(
    `SELECT order_id, txid, kind, index, plan, ${isFailedMint('t')} AS is_failed FROM service.wallet_transactions AS t
      WHERE order_id = ANY($1::uuid[]) AND superseded_at IS NULL`,
    [ids],
  );
  const made = rows.map(({ txid, is_failed: isFailed, ...row }) => ({
    ...row,
    txid: trustedTxid(txid),
    isFailed,
  }));
  return Map.groupBy(made, ({ order_id: id }) => id);
}
