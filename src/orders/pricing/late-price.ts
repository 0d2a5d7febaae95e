import type { Order } from '#orders/order/order.store.ts';
import type { StoredRepricing } from '#orders/order/order-request.ts';
import { termsOf } from '#orders/order/stored-terms.ts';
import { decidePrice, quoteAtRate } from './repricing.ts';

/** Minimum time to pay a difference, in ms. The customer may be asleep. */
const answerMs = 86_400_000;

/** Fields of an order on which its price depends. */
type PricedOrder = Pick<Order, 'quote' | 'terms' | 'amount' | 'createdAt' | 'expiresAt' | 'repriced'>;

/** A new price of an order, in its stored form. */
type LatePrice = Pick<Order, 'quote' | 'terms'> & { readonly repriced: StoredRepricing };

/** Facts that determine the price of a complete order. */
interface Lateness {
  /** Time at which the order was complete. */
  readonly at: Date;
  /** Fee estimate when the completion became known. Null if unknown. */
  readonly estimate: bigint | null;
  readonly now: Date;
}

/** The new price of a complete order. Null if its price does not change. Pure. */
export function latePrice(order: PricedOrder, { at, estimate, now }: Lateness): LatePrice | null {
  const { feeEstimate, heldUntil } = order.quote;
  if (heldUntil === undefined || estimate === null || feeEstimate === undefined) return null;
  const feeRate = BigInt(order.terms.feeRate);
  const standing = { heldUntil: new Date(heldUntil), estimate: BigInt(feeEstimate), feeRate };
  const decision = decidePrice(standing, at, estimate);
  if (decision.kind === 'kept') return null;
  const quote = quoteAtRate(termsOf(order.terms), order.quote, decision.feeRate);
  if (quote === null) return null;
  // the new price is held for as long as the first price was held
  const madeAt = order.repriced?.at ?? order.createdAt.getTime();
  const holdMs = Math.max(heldUntil - madeAt, 0);
  return {
    terms: { ...order.terms, feeRate: String(decision.feeRate) },
    quote: { ...quote, feeEstimate: Number(estimate), heldUntil: now.getTime() + holdMs },
    repriced: {
      at: now.getTime(),
      until: Math.max(order.expiresAt.getTime(), now.getTime() + answerMs),
      before: Number(order.amount),
      amount: quote.amount - Number(order.amount),
      fromEstimate: feeEstimate,
      toEstimate: Number(estimate),
      feeRate: Number(decision.feeRate),
    },
  };
}
