import type pg from 'pg';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { orderPayments } from '#orders/following/order-payments.ts';
import { type Order, readOrder } from '#orders/order/order.store.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { readTransactions } from '#orders/order/order-transactions.store.ts';
import { readDepositAddresses } from '#orders/parents/deposits.store.ts';
import { candidates } from '#orders/parents/deposits.ts';
import { readHeldPayments } from '#orders/parents/held-payments.ts';
import { readDeposits } from '#orders/parents/read-deposits.ts';
import { readNodePolicy } from '#orders/sending/node-policy.store.ts';
import { readReservations } from '#orders/stock/reservations.store.ts';
import { watcherOf } from '#orders/watching/watchers.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import { type FoundOrder, openOrder } from './open-order.ts';

/** Name of an order in a search: its id or its payment address. */
export type WantedOrderName = { readonly id: string } | { readonly address: string };

/**
 * Finds an order that a client wants to pay, with all data from which a payment is built. Lookups use unique columns,
 * so it takes only as long as reading the payments and computing one layout (8 ms for 10,000 files).
 */
export async function findOpenOrder(
  client: pg.ClientBase,
  network: NetworkParameters,
  wanted: WantedOrderName,
  now = new Date(),
): Promise<FoundOrder> {
  const named = 'id' in wanted ? idOf(wanted.id) : await orderAt(client, network, wanted.address);
  if (named.kind !== 'order') return named;
  const order = await readOrder(client, named.id);
  if (order === null) return { kind: 'unknown' };
  return openOrder(await readRecords(client, order, now), (await readNodePolicy(client))?.estimate ?? null);
}

type Named =
  | { readonly kind: 'order'; readonly id: string }
  | Exclude<FoundOrder, { kind: 'open' | 'paid' | 'over' }>;

const idOf = (id: string): Named => (isOrderId(id) ? { kind: 'order', id } : { kind: 'unknown' });

async function orderAt(client: pg.ClientBase, network: NetworkParameters, address: string): Promise<Named> {
  const parsed = parseAddress(address, network);
  if (parsed.kind === 'refused') return { kind: 'no-address', reason: parsed.reason };
  const { rows } = await client.query<{ id: string; is_deposit: boolean }>(
    `SELECT id, false AS is_deposit FROM service.orders WHERE script = $1
      UNION ALL SELECT order_id, true FROM service.order_parents WHERE script = $1`,
    [Buffer.from(parsed.script)],
  );
  const [found] = rows;
  if (found === undefined) return { kind: 'unknown' };
  return found.is_deposit ? { kind: 'deposit' } : { kind: 'order', id: found.id };
}

async function readRecords(
  client: pg.ClientBase,
  order: Order,
  now: Date,
): Promise<Parameters<typeof openOrder>[0]> {
  const tip = (await readPaymentsOffset(client))?.height ?? null;
  const transactions = await readTransactions(client, order.id);
  const payments = await readPayments(client, watcherOf(order.id));
  const held = await readHeldPayments(client, order, payments);
  const { parents, inventory } = order.terms;
  // one confirmation is enough here, because a parent that is in a block is not sent again
  const came = await readDeposits(client, order, { tip, confirmations: 1 });
  const times = { expiresAt: order.expiresAt, now };
  return {
    order,
    now,
    tip,
    payments,
    seen: orderPayments(order, { payments, transactions, held }),
    held,
    deposits: parents.length === 0 ? [] : await readDepositAddresses(client, order.id),
    // an output below dust is not treated as the parent, because the index will not accept it either
    candidates: candidates(parents.length, came, times, spentBy(transactions, 'return')).map((parent) =>
      parent?.isDust === true ? undefined : parent,
    ),
    stocked: inventory === undefined ? null : await readReservations(client, order.id),
  };
}
