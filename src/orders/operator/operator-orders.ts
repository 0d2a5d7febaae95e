import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { boundByEarned } from '#orders/bumping/budgets.ts';
import { type OrderBump, readBumps } from '#orders/bumping/bump.store.ts';
import { tokenOrderOf } from '#orders/collections/token-order-of.ts';
import { runeProperties } from '#orders/customers/etching-answer.ts';
import { mintFields } from '#orders/customers/mint-answer.ts';
import { isRefunded } from '#orders/customers/order-answer.ts';
import { shownOrderType } from '#orders/customers/order-type.ts';
import { tellCustomer } from '#orders/customers/tell-customer.ts';
import { applyEvent } from '#orders/following/process-order.ts';
import { readOrderMints } from '#orders/minting/ordered-mints.store.ts';
import {
  lockOrder,
  type Order,
  ordersInState,
  readEvents,
  readOrder,
  readOrderFiles,
  setRefundScript,
  stuckOrders,
} from '#orders/order/order.store.ts';
import { deliveringStates, isDelivering, type OrderState } from '#orders/order/order-machine.ts';
import { earnedBy } from '#orders/order/order-request.ts';
import { readTransactions } from '#orders/order/order-transactions.store.ts';
import { askForRefund, askToCancel, wakeOrder } from '#orders/order/order-wishes.store.ts';
import { storedPostages } from '#orders/order/stored-terms.ts';
import { readDepositAddresses } from '#orders/parents/deposits.store.ts';
import { depositWatcherOf, watcherOf } from '#orders/watching/watchers.ts';
import { readPayments, type WatchedPayment } from '#payments/payments.queries.ts';
import { requireDestination } from '#purse/destinations/require-destination.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import { type RefundOutcome, refundOutcome } from './refund-outcome.ts';

// An operator's actions on orders. The process with the seed makes the transactions.

/** The newest orders in a state. If `state` is null, orders in all states. */
export async function listOrders(pool: pg.Pool, state: OrderState | null, limit: number) {
  return (await ordersInState(pool, state, limit)).map(listedOrder);
}

/** The newest orders with a stuck transaction. */
export async function listStuckOrders(pool: pg.Pool, limit: number) {
  return (await stuckOrders(pool, limit)).map(listedOrder);
}

const listedOrder = ({
  id,
  kind,
  terms,
  state: current,
  amount,
  createdAt,
  expiresAt,
  error,
  stuck,
}: Order) => ({
  id,
  kind: shownOrderType(kind, terms),
  state: current,
  amount: Number(amount),
  createdAt,
  expiresAt,
  error,
  stuck,
});

/** The token order that charges the rune of an order (docs/collections.md, "Prices in runes"). */
const shownTokenOrder = ({ id, account, state, rune, charges: { fee, token } }: TokenOrder) => ({
  id,
  account,
  state,
  token: rune.name,
  amount: shownAmount(trustedU128(token.amount), rune.divisibility),
  address: token.address,
  fee: fee.state,
  rune: token.state,
});

/** Everything that is known about an order, for people. Throws `order_unknown`. */
export async function showOrder(pool: pg.Pool, id: string) {
  const order = await known(readOrder(pool, id), id);
  const [tokenOrder, files, payments, deposits, addresses, transactions, bumps, entries, events] =
    await Promise.all([
      tokenOrderOf(pool, order),
      readOrderFiles(pool, id),
      readPayments(pool, watcherOf(id)),
      readPayments(pool, depositWatcherOf(id)),
      readDepositAddresses(pool, id),
      readTransactions(pool, id),
      readBumps(pool, id),
      readEntries(pool, { kind: 'order', id }),
      readEvents(pool, id),
    ]);
  const mints = await readOrderMints(pool, order, transactions);
  return {
    id,
    kind: shownOrderType(order.kind, order.terms),
    runeProperties: runeProperties(order.terms),
    ...mintFields(order.terms, { transactions, mints, isRefunded: isRefunded(order.state) }),
    state: order.state,
    error: order.error,
    stuck: order.stuck,
    address: order.address,
    key: `0/${order.keyIndex}`,
    paidTo: order.paidTo,
    amount: Number(order.amount),
    tokenOrder: tokenOrder === null ? null : shownTokenOrder(tokenOrder),
    quote: order.quote,
    repriced: order.repriced,
    request: order.request,
    webhookUrl: order.webhookUrl,
    refundScript: order.refundScript?.toString('hex') ?? null,
    createdAt: order.createdAt,
    expiresAt: order.expiresAt,
    paidAt: order.paidAt,
    paidEstimate: order.paidEstimate === null ? null : Number(order.paidEstimate),
    completedAt: order.completedAt,
    files: files.map(({ shown }) => shown),
    payments: payments.map(shownPayment),
    // filtered by script, because a parent that passes from reveal to reveal arrives at its deposit again
    parents: addresses.map(({ index, keyIndex, script, address }) => ({
      ...order.terms.parents[index],
      depositAddress: address,
      key: `0/${keyIndex}`,
      deposits: deposits.filter((payment) => Buffer.compare(payment.script, script) === 0).map(shownPayment),
    })),
    transactions: transactions.map(({ txid, kind, fee, plan, madeAt, sentAt, refusal }) => ({
      txid: displayHash(txid),
      kind,
      fee,
      ...plan,
      madeAt,
      sentAt,
      refusal,
    })),
    bumps: bumps.map(({ txid, family, ...bump }) => ({
      txid: displayHash(txid),
      family: displayHash(family),
      ...bump,
    })),
    bumpBudget: {
      byEarned: Number(boundByEarned(earnedBy(order.quote, storedPostages(order.terms)))),
      spent: Number(spentOf(bumps)),
    },
    ledger: Object.fromEntries([...balancesOf(entries)].map(([account, sats]) => [account, Number(sats)])),
    events,
  };
}

/**
 * The operator's cost of bumps. It is the sum of the largest share in each family, because any bump of a family may be
 * mined.
 */
function spentOf(bumps: readonly OrderBump[]): bigint {
  const families = Map.groupBy(
    bumps.filter(({ isDead }) => !isDead),
    ({ family }) => displayHash(family),
  );
  const dearest = [...families.values()].map((family) => Math.max(...family.map(({ share }) => share)));
  return dearest.reduce((sum, share) => sum + BigInt(share), 0n);
}

const shownPayment = ({ txid, vout, value, firstSeen, block, goneAt }: WatchedPayment) => ({
  output: `${displayHash(txid)}:${vout}`,
  value: Number(value),
  firstSeen,
  height: block?.height ?? null,
  goneAt,
});

/**
 * Requests the cancellation of an order that is unpaid, or whose price was raised. Throws `order_unknown` and
 * `order_refuses`.
 */
export async function cancelOrder(client: pg.Pool | pg.ClientBase, id: string): Promise<void> {
  await requireCancellable(client, await known(readOrder(client, id), id));
  await askToCancel(client, id);
}

/** Throws `order_refuses` for an order that `cancelOrder` refuses. */
export async function requireCancellable(client: pg.Pool | pg.ClientBase, order: Order): Promise<void> {
  const { id } = order;
  if (order.state !== 'waiting-payment' && order.state !== 'waiting-parent')
    throw refuses(order, 'cancelled');
  const payments = [
    ...(await readPayments(client, watcherOf(id))),
    ...(await readPayments(client, depositWatcherOf(id))),
  ];
  if (order.repriced === null && payments.some(({ goneAt }) => goneAt === null)) {
    const until = order.expiresAt.toISOString();
    throw new AppError(
      'order_refuses',
      `Order ${id} has payments, so it cannot be cancelled. If the amount is not complete at ${until}, the payments are refunded.`,
    );
  }
}

/** Requests that the transactions of a failed order are planned again. Throws `order_unknown` and `order_refuses`. */
export function retryOrder(pool: pg.Pool, id: string): Promise<void> {
  return withTransaction(pool, (tx) => retryOrderIn(tx, id));
}

/** Does the work of `retryOrder` in a transaction of the caller. */
export async function retryOrderIn(tx: pg.ClientBase, id: string): Promise<void> {
  const order = await known(lockOrder(tx, id), id);
  if (!(await applyEvent(tx, order, 'retried', { tell: tellCustomer }))) throw refuses(order, 'tried again');
  await wakeOrder(tx, id);
}

/**
 * Refunds to a script what an order owes. If the order's transactions are stored, the node must have none of them. In
 * this case the service decides later, and a refusal is stored in the order's `error`. Throws `order_unknown`,
 * `order_refuses`, `destination_own` and `destination_refused`.
 */
export function refundOrder(pool: pg.Pool, id: string, script: Uint8Array): Promise<void> {
  return withTransaction(pool, (tx) => refundOrderIn(tx, id, script));
}

/** Does the work of `refundOrder` in a transaction of the caller. */
export async function refundOrderIn(tx: pg.ClientBase, id: string, script: Uint8Array): Promise<void> {
  await requireDestination(tx, { script, amount: null }, 'The address of the refund');
  const order = await known(lockOrder(tx, id), id);
  if (!isRefundable(order.state)) throw refuses(order, 'refunded');
  if (isDelivering(order.state)) {
    // only the service knows whether the node has the transactions
    await askForRefund(tx, id, script);
  } else {
    await directRefund(tx, order, script);
  }
  await wakeOrder(tx, id);
}

/** Sends what a resting order owes to a script. */
async function directRefund(tx: pg.ClientBase, order: Order, script: Uint8Array): Promise<void> {
  const isFailed = order.state === 'error';
  const isMined = isFailed && (await isSpent(tx, order.id));
  // our outputs of a reveal that etched nothing are owed, and are refunded without a change of state
  if (isMined && order.terms.etching === undefined)
    throw refuses(order, 'refunded, because its reveals have spent the payments');
  // in the same transaction as the state, because a refund made in between would go to the customer's address
  await setRefundScript(tx, order.id, script);
  if (isFailed && !isMined) await applyEvent(tx, order, 'refunding', { tell: tellCustomer });
}

/** The outcome of a request to refund an order, and whether the service has yet to decide. Throws `order_unknown`. */
export async function outcomeOfRefund(
  client: pg.Pool | pg.ClientBase,
  id: string,
  network: NetworkName,
): Promise<RefundOutcome & { readonly isAsked: boolean }> {
  const order = await known(readOrder(client, id), id);
  const transactions = await readTransactions(client, id);
  const entries = await readEntries(client, { kind: 'order', id });
  return { ...refundOutcome(network, transactions, entries), isAsked: isDelivering(order.state) };
}

/**
 * Whether a failed order has already spent its payments. Its reveals are then mined, but other transactions took the
 * inscriptions that the order should burn.
 */
const isSpent = async (tx: pg.ClientBase, id: string): Promise<boolean> =>
  (await readTransactions(tx, id)).some(({ kind }) => kind === 'reveal');

/** States in which the order may have money that no delivery uses or will use. */
const refundable: readonly OrderState[] = [
  ...deliveringStates,
  'error',
  'waiting-refund',
  'completed',
  'expired',
  'cancelled',
  'refunded',
];

/** Whether an order in this state may have money that can be refunded. */
export const isRefundable = (state: OrderState): boolean => refundable.includes(state);

/** The network of the wallet. Throws `wallet_missing`. */
export async function networkOfOrders(client: pg.Pool | pg.ClientBase): Promise<NetworkName> {
  const { requirePublicWallet } = await import('#wallet/public-wallet.ts');
  return (await requirePublicWallet(client)).network;
}

async function known(order: Promise<Order | null>, id: string): Promise<Order> {
  const found = await order;
  if (found === null) throw new AppError('order_unknown', `There is no order ${id}.`);
  return found;
}

/** Locks an order until the transaction ends. Throws `order_unknown`. */
export const lockKnownOrder = (tx: pg.ClientBase, id: string): Promise<Order> => known(lockOrder(tx, id), id);

/**
 * The error for an action that the order refuses.
 *
 * @param wish the refused action, as in "it cannot be cancelled"
 */
export const refuses = ({ id, state, expiresAt }: Order, wish: string): AppError => {
  const until =
    state === 'waiting-payment' || state === 'waiting-parent' ? `, until ${expiresAt.toISOString()}` : '';
  return new AppError(
    'order_refuses',
    `Order ${id} is in the state ${state}${until}, so it cannot be ${wish}.`,
  );
};
