import type pg from 'pg';
import { actionHref } from '#console/actions/console-actions.ts';
import type { ConsoleLink, ConsolePart, ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isRefundable, showOrder } from '#orders/operator/operator-orders.ts';
import { isOrderId, type OrderState } from '#orders/order/order-machine.ts';
import { hrefOf } from './list-pages.ts';

type ShownOrder = Awaited<ReturnType<typeof showOrder>>;

/** One order, with everything that is known about it, and the actions that its state allows. Throws `order_unknown`. */
export async function orderSheet(pool: pg.Pool, id: string): Promise<ConsoleSheet> {
  if (!isOrderId(id)) throw new AppError('order_unknown', `There is no order ${id}.`);
  const order = await showOrder(pool, id);
  return {
    title: `Order ${id}`,
    parts: [factsOf(order), { kind: 'actions', actions: actionsOf(id, order.state) }, ...tablesOf(order)],
  };
}

const factsOf = (order: ShownOrder): ConsolePart => ({
  kind: 'facts',
  facts: [
    ['State', order.state],
    ['Kind', order.kind],
    ['Why it failed', order.error],
    ['Why it waits', order.stuck],
    ['Price (sats)', order.amount],
    ['Address', order.address],
    ['Key', order.key],
    ['Created (UTC)', order.createdAt],
    ['Expires (UTC)', order.expiresAt],
    ['Paid (UTC)', order.paidAt],
    ['Completed (UTC)', order.completedAt],
    ['Refund script', order.refundScript],
    ['Files', order.files.length],
    ['Bumps paid (sats)', order.bumpBudget.spent],
    ['Bumps allowed by its revenue (sats)', order.bumpBudget.byEarned],
  ],
});

const actionsOf = (id: string, state: OrderState): ConsoleLink[] => [
  ...(state === 'error' ? [{ words: 'Try again', href: actionHref('order-retry', { id }) }] : []),
  ...(isRefundable(state) ? [{ words: 'Refund', href: actionHref('order-refund', { id }) }] : []),
  ...(state === 'waiting-payment' || state === 'waiting-parent'
    ? [{ words: 'Cancel the order', href: actionHref('order-cancel', { id }) }]
    : []),
  { words: 'Messages to its receiver', href: hrefOf('/console/webhooks', { subject: `order ${id}` }) },
];

const tablesOf = ({ payments, parents, transactions, bumps, ledger, events }: ShownOrder): ConsolePart[] => [
  { kind: 'heading', words: 'Payments' },
  {
    kind: 'table',
    label: 'Payments',
    columns: ['Output', 'Sats', 'First seen (UTC)', 'Block', 'Gone (UTC)'],
    rows: [...payments, ...parents.flatMap(({ deposits }) => deposits)].map(
      ({ output, value, firstSeen, height, goneAt }) => [output, value, firstSeen, height, goneAt],
    ),
    empty: 'Nothing was paid.',
  },
  { kind: 'heading', words: 'Transactions' },
  {
    kind: 'table',
    label: 'Transactions',
    columns: ['Id', 'Kind', 'Fee (sats)', 'Made (UTC)', 'Sent (UTC)', 'Refusal of the node'],
    rows: [
      ...transactions.map(({ txid, kind, fee, madeAt, sentAt, refusal }) => [
        txid,
        kind,
        Number(fee),
        madeAt,
        sentAt,
        refusal,
      ]),
      ...bumps.map(({ txid, share }) => [txid, 'bump', Number(share), null, null, null]),
    ],
    empty: 'No transaction was made.',
  },
  { kind: 'heading', words: 'Ledger' },
  {
    kind: 'table',
    label: 'Balances of the order',
    columns: ['Account', 'Sats'],
    rows: Object.entries(ledger),
    empty: 'No entry was made.',
  },
  { kind: 'heading', words: 'Events' },
  {
    kind: 'table',
    label: 'Events',
    columns: ['Event', 'Before', 'After', 'At (UTC)'],
    rows: events.map(({ event, from, to, at }) => [event, from, to, at]),
    empty: 'Nothing happened yet.',
  },
];
