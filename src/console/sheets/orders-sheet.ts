import type pg from 'pg';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { owingOrders } from '#orders/ledger/owed.queries.ts';
import { listOrders, listStuckOrders } from '#orders/operator/operator-orders.ts';
import { orderStates } from '#orders/order/order-machine.ts';
import { listPageOf, pagerOf, rowsOn, type SheetQuery, stateChoices } from './list-pages.ts';

const path = '/console/orders';

/** Selections beside the states of orders. */
const selections = ['stuck', 'owed'] as const;

export const orderHref = (id: string): string => `${path}/${id}`;

/** Orders, the newest first; with `state=stuck` or `state=owed` those that wait for a person or for fees. */
export async function ordersSheet(pool: pg.Pool, query: SheetQuery): Promise<ConsoleSheet> {
  const choices = stateChoices(path, [...selections, ...orderStates], query['state']);
  if (query['state'] === 'owed') return owedSheet(pool, query, choices);
  const place = listPageOf(query);
  const state = orderStates.find((name) => name === query['state']) ?? null;
  const orders =
    query['state'] === 'stuck'
      ? await listStuckOrders(pool, place.limit)
      : await listOrders(pool, state, place.limit);
  return {
    title: 'Orders',
    parts: [
      choices,
      {
        kind: 'table',
        label: 'Orders',
        columns: ['Order', 'Kind', 'State', 'Price (sats)', 'Created (UTC)', 'Why it waits'],
        rows: rowsOn(place, orders).map(({ id, kind, state: now, amount, createdAt, error, stuck }) => [
          { words: id, href: orderHref(id) },
          kind,
          now,
          amount,
          createdAt,
          error ?? stuck,
        ]),
        empty: 'No order is in this state.',
      },
      pagerOf(place, orders, path, query),
    ],
  };
}

async function owedSheet(
  pool: pg.Pool,
  query: SheetQuery,
  choices: ConsoleSheet['parts'][number],
): Promise<ConsoleSheet> {
  const place = listPageOf(query);
  const owing = await owingOrders(pool, place.limit);
  return {
    title: 'Money that is owed to customers',
    parts: [
      choices,
      {
        kind: 'words',
        words: [
          'Money of orders that no delivery uses: late or partial payments, and excess. With an address the refund is made by itself, once it is worth its fee. Without an address it waits for you.',
        ],
      },
      {
        kind: 'table',
        label: 'Orders that owe money',
        columns: ['Order', 'State', 'Owed (sats)', 'Created (UTC)', 'Goes to'],
        rows: rowsOn(place, owing).map(({ id, state, owed, refundAddress, createdAt }) => [
          { words: id, href: orderHref(id) },
          state,
          owed,
          createdAt,
          refundAddress ?? 'no address: refund it by hand',
        ]),
        empty: 'No customer is owed money.',
      },
      pagerOf(place, owing, path, query),
    ],
  };
}
