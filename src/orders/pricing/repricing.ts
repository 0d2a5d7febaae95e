import assert from 'node:assert/strict';
import { smallest } from '#kernel/bitcoin/amount.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import type { StoredQuote } from '#orders/order/order-request.ts';
import { quotedLayout } from './quoted-layout.ts';

/** Current price of an order. Rates are in sats per 1,000 virtual bytes. */
export interface StandingPrice {
  /** The price is held for an order that is complete by this time. Null if the price is held forever. */
  readonly heldUntil: Date | null;
  /** Fee estimate when the price was made. Null if there was no estimate. */
  readonly estimate: bigint | null;
  /** Fee rate that the customer requested. */
  readonly feeRate: bigint;
}

/** A decision about a price. Either the price is kept, or the transactions of the order pay another rate. */
export type PriceDecision =
  | { readonly kind: 'kept'; readonly because: 'held' | 'unknown' | 'own-fee' | 'small-rise' }
  | { readonly kind: 'repriced'; readonly feeRate: bigint };

/**
 * Minimum ratio of a rise: an estimate above 1.5 times the earlier estimate is a rise. Within hours, estimates usually
 * change less.
 */
const rise = { now: 2n, before: 3n };

/**
 * Decides the price of an order once everything that it waits for was seen. A late order pays the current rate, in
 * proportion to the rate that its customer requested, and never more than the estimate. An unknown estimate is not a
 * rise. Pure.
 *
 * @param completedAt time at which the last part of the payment or the last parent was first seen
 * @param now the estimate when this became known; null if unknown
 */
export function decidePrice(
  { heldUntil, estimate, feeRate }: StandingPrice,
  completedAt: Date,
  now: bigint | null,
): PriceDecision {
  if (heldUntil === null || completedAt <= heldUntil) return { kind: 'kept', because: 'held' };
  if (estimate === null || estimate <= 0n || now === null) return { kind: 'kept', because: 'unknown' };
  if (feeRate >= now) return { kind: 'kept', because: 'own-fee' };
  if (now * rise.now <= estimate * rise.before) return { kind: 'kept', because: 'small-rise' };
  const inProportion = (feeRate * now + estimate - 1n) / estimate;
  return { kind: 'repriced', feeRate: largest(feeRate, smallest(inProportion, now)) };
}

/**
 * Quotes the same transactions at another rate. Only their fees change. The order's address and the service's part of
 * the price do not change. Returns null if the transactions do not cost more. Pure.
 */
export function quoteAtRate(terms: OrderTerms, quote: StoredQuote, feeRate: bigint): StoredQuote | null {
  const before = quotedLayout(terms, quote);
  const layout = quotedLayout({ ...terms, feeRate }, quote);
  const shapeOf = ({ paidTo, reveals }: typeof before): string =>
    JSON.stringify([paidTo, reveals.map(({ first, count, leafBytes }) => [first, count, leafBytes])]);
  assert(shapeOf(layout) === shapeOf(before), 'scripts and reveals do not depend on the rate');
  const chainFee = Number(layout.chainFee);
  if (chainFee <= quote.chainFee) return null;
  // removed, because the dollar value belongs to the old amount
  const { fiatValue: _, ...kept } = quote;
  return { ...kept, chainFee, amount: quote.amount - quote.chainFee + chainFee };
}

/** Payments and parents of an order, from which its completion time is computed. */
export interface Completion<Payment> {
  readonly payments: readonly (Payment & { readonly firstSeen: Date })[];
  /** Whether these payments are enough. If payments are enough, they must still be enough with one more payment. */
  readonly isEnough: (payments: readonly Payment[]) => boolean;
  /** Time at which the last parent was first seen. Null if the order has no parents. */
  readonly parentsAt: Date | null;
}

/** Time at which the order's last missing part was first seen. Null if something is still missing. Pure. */
export function completedAt<Payment>({ payments, isEnough, parentsAt }: Completion<Payment>): Date | null {
  if (!isEnough(payments)) return null;
  const inOrder = payments.toSorted((a, b) => a.firstSeen.getTime() - b.firstSeen.getTime());
  let [short, enough] = [0, inOrder.length];
  while (enough - short > 1) {
    const middle = (short + enough) >> 1;
    if (isEnough(inOrder.slice(0, middle))) enough = middle;
    else short = middle;
  }
  const paidAt = inOrder[enough - 1]?.firstSeen ?? null;
  if (paidAt === null || parentsAt === null) return paidAt ?? parentsAt;
  return paidAt > parentsAt ? paidAt : parentsAt;
}
