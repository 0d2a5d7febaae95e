import assert from 'node:assert/strict';
import type pg from 'pg';
import {
  type Contenders,
  decideItems,
  keepItems,
  lockContenders,
  type SoldStanding,
  undecideItems,
} from '#collections/selling/sold-items.store.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { lookSoon, type Order } from '#orders/order/order.store.ts';
import { amountsOf } from '#orders/order/order-amounts.queries.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { isReserving, minedWithinMs, type ReservingOrder } from '#orders/stock/reserved-until.ts';
import { watcherOf } from '#orders/watching/watchers.ts';
import { readPaymentsOf, type WatchedPayment } from '#payments/payments.queries.ts';

/**
 * Whether a paid order can be delivered. `held`: the order has its items permanently. `waiting`: orders that were paid
 * earlier are decided first. `refused`: the order's address has no allowance left. `late`: the payment waited too long
 * for a block. `gone`: the payment became known after the order's time was over, and other orders have the items.
 */
export type CollectionStanding = 'held' | 'waiting' | 'refused' | 'late' | 'gone';

/** Reasons why an order is refunded completely. */
export const reasonWithoutItems: Readonly<Record<Exclude<CollectionStanding, 'held' | 'waiting'>, string>> = {
  refused:
    'When this payment was confirmed, the phase allowed the address fewer items than the order has. The complete payment is refunded.',
  late: 'The payment waited for a block for more than 24 hours, and its items were given free in the meantime. The complete payment is refunded.',
  gone: 'The payment was first seen after the time of the order was over, and other orders now have its items. The complete payment is refunded.',
};

/** States in which an order's payment is missing or not deep enough. */
const unpaidStates: readonly OrderState[] = ['waiting-payment', 'waiting-parent', 'waiting-confirmation'];

/** State of an order's items. */
export interface ItemsStanding {
  readonly standing: SoldStanding;
  /** Whether the order's delivery is signed and may be mined, whatever the order's state is now. */
  readonly mayBeDelivered: boolean;
}

/** Whether an order in its state needs its items. A failed order keeps the items that were paid. Pure. */
export const needsItems = (order: Omit<ReservingOrder, 'id' | 'failedAt'>, now: Date): boolean =>
  isReserving({ ...order, failedAt: null }, now) &&
  (order.state !== 'waiting-payment' || order.paidAt !== null || now < runeWaitsUntil(order));

/**
 * Time until which an order keeps its items if its rune payment was sent in time, but is not in a block yet. Payments
 * in sats have the same limit. An order without such a payment changes its state when its time is over.
 */
export const runeWaitsUntil = ({ expiresAt }: Pick<Order, 'expiresAt'>): Date =>
  new Date(expiresAt.getTime() + minedWithinMs);

/**
 * Keeps the items of an order as long as its state needs them, or its delivery may be mined. Otherwise a refunded order
 * could still be delivered, and its items would be sold twice.
 */
export async function keepCollectionItems(
  tx: pg.ClientBase,
  order: Order,
  mayBeDelivered: boolean,
  now: Date,
): Promise<ItemsStanding> {
  return { standing: await standingOf(tx, order, mayBeDelivered, now), mayBeDelivered };
}

async function standingOf(
  tx: pg.ClientBase,
  order: Order,
  mayBeDelivered: boolean,
  now: Date,
): Promise<SoldStanding> {
  const isNeeding = mayBeDelivered || needsItems(order, now);
  const without = order.state === 'waiting-confirmation' ? 'late' : 'released';
  // an order that lost its items may take them again; until the order's payment is deep, the limit for reservations
  // applies
  const isBounded = unpaidStates.includes(order.state) && order.paidAt === null;
  const standing = await keepItems(tx, order.id, isNeeding, { without, isBounded });
  if (standing === 'unpaid' && mayBeDelivered && order.state === 'queued') {
    // the branch of the chain with the order's delivery is active again, so the decision of that branch applies
    await lockContenders(tx, order.id);
    await decideItems(tx, order.id, 'allowed');
    return 'allowed';
  }
  // a delivery that may be mined uses the allowance, even if its payment is not in a block now
  if (standing !== 'allowed' || mayBeDelivered || !unpaidStates.includes(order.state)) return standing;
  await undecideItems(tx, order.id);
  return 'unpaid';
}

/** Decides about an order whose payments are deep enough. */
export async function decideCollectionOrder(
  tx: pg.ClientBase,
  order: Order,
  { standing, mayBeDelivered }: ItemsStanding,
  payments: readonly WatchedPayment[],
): Promise<CollectionStanding> {
  assert(standing !== 'making', `order ${order.id} is stored`);
  if (standing === 'allowed') return 'held';
  if (standing === 'refused' || standing === 'late') return standing;
  if (standing === 'released') return 'gone';
  const contenders = await lockContenders(tx, order.id);
  // another decision was made after the records of the order were read
  if (contenders === null) return 'held';
  // a signed delivery may be mined before a refund, so the order must keep its items
  const decided = mayBeDelivered
    ? 'allowed'
    : decide(contenders, await itemsAhead(tx, order, contenders, payments));
  if (decided === 'waiting') return decided;
  await decideItems(tx, order.id, decided);
  // the other orders may be waiting for this decision
  const others = contenders.others.map(({ orderId }) => orderId);
  await lookSoon(tx, others);
  return decided === 'allowed' ? 'held' : decided;
}

/**
 * Decides whether an address has enough allowance for an order. `ahead` is the number of items of orders that were paid
 * earlier and are not decided yet. Pure.
 */
export function decide(
  { left, items }: Pick<Contenders, 'left' | 'items'>,
  ahead: number,
): 'allowed' | 'refused' | 'waiting' {
  if (left === null) return 'allowed';
  if (items > left) return 'refused';
  return items + ahead > left ? 'waiting' : 'allowed';
}

/** Number of items of other orders of the same address whose payments come earlier in the chain. */
async function itemsAhead(
  tx: pg.ClientBase,
  order: Order,
  { left, others }: Contenders,
  payments: readonly WatchedPayment[],
): Promise<number> {
  const own = completedAt(payments, order.amount);
  if (left === null || own === null || others.length === 0) return 0;
  const ids = others.map(({ orderId }) => orderId);
  const amounts = await amountsOf(tx, ids);
  const paid = await readPaymentsOf(tx, ids.map(watcherOf));
  return others.reduce((sum, { orderId, items }) => {
    const amount = amounts.get(orderId);
    const at = amount === undefined ? null : completedAt(paid.get(watcherOf(orderId)) ?? [], amount);
    return at !== null && isBefore(at, own) ? sum + items : sum;
  }, 0);
}

/** Position in the chain of the payment that completes an order's amount. */
interface ChainPlace {
  readonly height: number;
  readonly txid: string;
}

const isBefore = (a: ChainPlace, b: ChainPlace): boolean =>
  a.height < b.height || (a.height === b.height && a.txid < b.txid);

/** Position of the payment that completes the amount; null if payments in blocks do not reach the amount. Pure. */
export function completedAt(
  payments: readonly Pick<WatchedPayment, 'block' | 'txid' | 'value'>[],
  amount: bigint,
): ChainPlace | null {
  const mined = payments
    .flatMap(({ block, txid, value }) =>
      block === null ? [] : [{ height: Number(block.height), txid: displayHash(txid), value }],
    )
    .toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
  let sum = 0n;
  for (const { height, txid, value } of mined) {
    sum += value;
    if (sum >= amount) return { height, txid };
  }
  return null;
}
