import type pg from 'pg';
import type { Order } from '#orders/order/order.store.ts';
import { countsInTime, type OrderFacts, paidInTime, type RuneProgress } from '#orders/order/order-facts.ts';
import { type OrderTransaction, supersedeOfOrders } from '#orders/order/order-transactions.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import {
  lockRunePayment,
  putFeePayment,
  type RunePayment,
} from '#tokenpay/inscribing/inscription-fees.store.ts';
import type { FeePayment } from '#tokenpay/order/token-order.ts';

/** Progress of an order's rune payment, and the order's transactions that can still be mined. */
export interface RuneStanding {
  readonly rune: RuneProgress | null;
  readonly live: readonly OrderTransaction[];
}

const isDelivery = ({ kind }: OrderTransaction): boolean => kind === 'commit' || kind === 'reveal';

/**
 * Reads the progress of an order's rune payment, if the order has a price in a rune. A delivery that was sent is kept,
 * whatever happens to the rune payment. An unsent delivery is given up if a reorganisation removed the rune payment, so
 * that nothing unpaid is sent.
 */
export async function readRuneStanding(
  tx: pg.ClientBase,
  order: Order,
  live: readonly OrderTransaction[],
): Promise<RuneStanding> {
  const payment = order.request.collection === undefined ? null : await lockRunePayment(tx, order.id);
  if (payment === null) return { rune: null, live };
  const made = live.filter(isDelivery);
  if (made.some(({ sentAt, height }) => sentAt !== null || height !== null)) return { rune: 'here', live };
  const rune = runeProgress(payment);
  if (rune === 'here' || made.length === 0) return { rune, live };
  await supersedeOfOrders(
    tx,
    made.map(({ txid }) => txid),
  );
  return { rune, live: live.filter((each) => !isDelivery(each)) };
}

/** Progress of a rune payment. Pure. */
export function runeProgress({ order, charge, isWaiting, isCredited }: RunePayment): RuneProgress {
  if (order === 'error') return 'over';
  if (charge === 'completed') return 'here';
  if (isWaiting) return 'seen';
  return isCredited ? 'part' : 'missing';
}

/**
 * Progress of the payment of an order's sats, for the token order that charges these sats as its fee. Null if the order
 * has ended, because then nothing changes any more. Pure.
 */
export function feePaymentOf({ state }: Pick<Order, 'state'>, facts: OrderFacts): FeePayment | null {
  if (state === 'cancelled') return 'cancelled';
  if (['expired', 'waiting-refund', 'refunded', 'error'].includes(state)) return null;
  const { isSeen, isDeep } = paidInTime(facts);
  if (isDeep) return 'deep';
  if (isSeen) return 'seen';
  return facts.payments.some((payment) => countsInTime(payment, facts)) ? 'part' : 'nothing';
}

/** Stores the progress of an order's payment in sats for its token order, if the order has a price in a rune. */
export async function tellFeePayment(
  tx: pg.ClientBase,
  order: Order,
  { facts, payments }: { readonly facts: OrderFacts; readonly payments: readonly WatchedPayment[] },
): Promise<void> {
  const paid = facts.rune === null ? null : feePaymentOf(order, facts);
  if (paid === null) return;
  const first = payments.find(({ goneAt }) => goneAt === null);
  await putFeePayment(tx, order.id, paid, first?.txid ?? null);
}
