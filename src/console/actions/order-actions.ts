import type pg from 'pg';
import type { ConsoleCell, ConsolePart } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import {
  cancelOrder,
  isRefundable,
  lockKnownOrder,
  networkOfOrders,
  outcomeOfRefund,
  refundOrderIn,
  refuses,
  requireCancellable,
  retryOrderIn,
} from '#orders/operator/operator-orders.ts';
import { refundNotes } from '#orders/operator/refund-outcome.ts';
import type { Order } from '#orders/order/order.store.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { readRefundWish } from '#orders/order/order-wishes.store.ts';
import { depositWatcherOf, watcherOf } from '#orders/watching/watchers.ts';
import { readPayments } from '#payments/payments.queries.ts';
import {
  type ActionFields,
  addressInput,
  type OperatorAction,
  rateNow,
  scriptOfAddress,
  valueOf,
  words,
} from './operator-action.ts';

/** The order that a form names, locked until the transaction ends. Throws `order_unknown`. */
async function lockNamed(tx: pg.ClientBase, fields: ActionFields): Promise<Order> {
  const id = valueOf(fields, 'id');
  if (!isOrderId(id)) throw new AppError('order_unknown', `There is no order ${id}.`);
  return lockKnownOrder(tx, id);
}

/** The state of an order on which the effect of an action depends. */
async function stateOf(tx: pg.ClientBase, order: Order) {
  const payments = [
    ...(await readPayments(tx, watcherOf(order.id))),
    ...(await readPayments(tx, depositWatcherOf(order.id))),
  ].filter(({ goneAt }) => goneAt === null);
  const { id, state, step, error, refundScript, isCancelAsked, repriced } = order;
  return {
    id,
    state,
    step,
    error,
    refundScript: refundScript?.toString('hex') ?? null,
    refundAsked: await readRefundWish(tx, id),
    isCancelAsked,
    isRepriced: repriced !== null,
    payments: payments.length,
    paid: payments.reduce((sum, { value }) => sum + Number(value), 0),
  };
}

const facts = (
  { id, state, error }: Order,
  paid: number,
  more: readonly (readonly [string, ConsoleCell])[],
): ConsolePart => ({
  kind: 'facts',
  facts: [['Order', id], ['State', state], ['Why it failed', error], ['Payments (sats)', paid], ...more],
});

const ofOrder = {
  given: ['id'],
  target: (fields: ActionFields) => `order ${valueOf(fields, 'id')}`,
  back: (fields: ActionFields) => `/console/orders/${encodeURIComponent(valueOf(fields, 'id'))}`,
} as const;

const retry: OperatorAction = {
  ...ofOrder,
  title: 'Try an order again',
  button: 'Try again',
  inputs: [],
  about: '',
  async propose(tx, _parts, fields) {
    const order = await lockNamed(tx, fields);
    if (order.state !== 'error') throw refuses(order, 'tried again');
    const seen = await stateOf(tx, order);
    return {
      seen,
      parts: [
        words(
          'The transactions of this failed order are planned again, at the fee rate of that moment. They spend the payments of the customer on the delivery.',
        ),
        facts(order, seen.paid, [
          ['Price (sats)', Number(order.amount)],
          ['Fee rate now', await rateNow(tx)],
        ]),
      ],
      act: async () => {
        await retryOrderIn(tx, order.id);
        return 'The transactions of the order are planned again.';
      },
    };
  },
};

const refund: OperatorAction = {
  ...ofOrder,
  title: 'Refund an order',
  button: 'Refund',
  inputs: [addressInput],
  about:
    'Sends what the order owes to an address, less the fee of the transaction. Use an address that the customer gave you.',
  async propose(tx, _parts, fields) {
    const order = await lockNamed(tx, fields);
    if (!isRefundable(order.state)) throw refuses(order, 'refunded');
    const to = valueOf(fields, 'to');
    const network = await networkOfOrders(tx);
    const script = scriptOfAddress(to, network);
    const outcome = await outcomeOfRefund(tx, order.id, network);
    const state = await stateOf(tx, order);
    return {
      seen: { ...state, outcome },
      parts: [
        words(
          `What this order owes goes to ${to}, less the fee of the transaction. Nothing can take the money back after that.`,
          ...refundNotes(outcome, to, outcome.isAsked).map(sentence),
        ),
        facts(order, state.paid, [
          ['Owed (sats)', outcome.open],
          ['Goes to', to],
          ['Fee', 'is taken from the money'],
          ['Fee rate now', await rateNow(tx)],
        ]),
      ],
      act: async () => {
        await refundOrderIn(tx, order.id, script);
        return `A refund to ${to} is asked for.`;
      },
    };
  },
};

const cancel: OperatorAction = {
  ...ofOrder,
  title: 'Cancel an order',
  button: 'Cancel the order',
  inputs: [],
  about: '',
  async propose(tx, _parts, fields) {
    const order = await lockNamed(tx, fields);
    const state = await stateOf(tx, order);
    if (order.isCancelAsked)
      throw new AppError(
        'order_refuses',
        `The cancellation of order ${order.id} is already asked for. The process with the seed makes it in its next round.`,
      );
    await requireCancellable(tx, order);
    return {
      seen: state,
      parts: [
        words(
          'The order ends, and a payment that arrives later is refunded. The customer is told by the webhook of the order.',
        ),
        facts(order, state.paid, [
          ['Price (sats)', Number(order.amount)],
          ['Address', order.address],
        ]),
      ],
      act: async () => {
        await cancelOrder(tx, order.id);
        return 'The cancellation of the order is asked for.';
      },
    };
  },
};

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Actions on orders, by name. */
export const orderActions = { 'order-retry': retry, 'order-refund': refund, 'order-cancel': cancel } as const;
