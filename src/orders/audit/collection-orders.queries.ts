import type pg from 'pg';
import { collectionOrders } from '#collections/selling/collection-orders.queries.ts';
import type { SoldStanding } from '#collections/selling/sold-items.store.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { readSums } from '#purse/ledger/ledger.store.ts';
import type { LedgerAccount } from '#purse/ledger/ledger.ts';
import { hasDeepRefund, hasReveal } from '#purse/transactions/own-transactions.queries.ts';
import type { AuditedCollectionOrder } from './collection-order-faults.ts';

/** Maximum number of orders in a page. */
const pageOrders = 500;

/**
 * Reads the next page of orders of a collection. The page is empty at the end.
 *
 * @param after last id of the previous page, or null to start with the first order
 */
export async function nextCollectionOrders(
  client: pg.ClientBase,
  collection: string,
  after: string | null,
): Promise<AuditedCollectionOrder[]> {
  const { rows } = await client.query<{
    id: string;
    state: OrderState | null;
    standing: SoldStanding;
    items: number;
    price: string;
    is_stocked: boolean;
    may_be_delivered: boolean;
  }>(
    `SELECT m.order_id AS id, o.state, m.standing, m.items, m.price::text AS price, coalesce(o.terms ? 'inventory', false) AS is_stocked,
            ${hasReveal('m.order_id')} AND NOT ${hasDeepRefund('m.order_id')} AS may_be_delivered
       FROM (${collectionOrders}) AS m LEFT JOIN service.orders AS o ON o.id = m.order_id
      WHERE m.collection = $1 AND ($2::uuid IS NULL OR m.order_id > $2) ORDER BY m.order_id LIMIT $3`,
    [collection, after, pageOrders],
  );
  const sums = await readSums(
    client,
    rows.map(({ id }) => id),
  );
  const held = (of: string, name: LedgerAccount): bigint =>
    (byOrder.get(of) ?? []).reduce((sum, { account, sats }) => (account === name ? sum + sats : sum), 0n);
  const byOrder = Map.groupBy(sums, ({ id }) => id);
  return rows.map(({ id, price, is_stocked: isStocked, may_be_delivered: mayBeDelivered, ...row }) => ({
    ...row,
    id,
    price: BigInt(price),
    isStocked,
    mayBeDelivered,
    earned: held(id, 'creator'),
    revenue: held(id, 'service'),
  }));
}
