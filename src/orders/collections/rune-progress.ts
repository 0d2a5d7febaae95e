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

/** How far the rune of an order is, with its transactions that may still be sent. */
export interface RuneStanding {
  readonly rune: RuneProgress | null;
  readonly live: readonly OrderTransaction[];
}

const isDelivery = ({ kind }: OrderTransaction): boolean => kind === 'commit' || kind === 'reveal';

/**
 * Reads how far the rune of an order is that has one for its price. A delivery that was sent stays, whatever becomes of
 * the rune; one that was not is given up where a reorganisation took the rune back, so that nothing is sent that is not
 * paid for.
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

/** Pure. */
export function runeProgress({ order, charge, isWaiting, isCredited }: RunePayment): RuneProgress {
  if (order === 'error') return 'over';
  if (charge === 'completed') return 'here';
  if (isWaiting) return 'seen';
  return isCredited ? 'part' : 'missing';
}

/**
 * The sats of an order as it tells them to the token order whose fee charge is its charge; null: it tells nothing new,
 * as it is over. Pure.
 */
export function feePaymentOf({ state }: Pick<Order, 'state'>, facts: OrderFacts): FeePayment | null {
  if (state === 'cancelled') return 'cancelled';
  if (['expired', 'waiting-refund', 'refunded', 'error'].includes(state)) return null;
  const { isSeen, isDeep } = paidInTime(facts);
  if (isDeep) return 'deep';
  if (isSeen) return 'seen';
  return facts.payments.some((payment) => countsInTime(payment, facts)) ? 'part' : 'nothing';
}

/** Tells the token order of an order with a price in a rune what came of its sats. */
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
