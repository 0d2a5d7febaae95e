import assert from 'node:assert/strict';
import { layoutOrder, type OrderLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { Order } from '#orders/order/order.store.ts';

/** The layout that an order was quoted with: what it costs beyond the chain's part is in the amount. */
export function quotedLayout(terms: OrderTerms, quote: Order['quote']): OrderLayout {
  const revenue = BigInt(quote.serviceFee) - BigInt(quote.postage) * BigInt(terms.files.length);
  const layout = layoutOrder(terms, { amount: revenue, sizeFeePercent: 0 });
  assert(layout.kind === 'layout', 'terms that were quoted have a layout');
  return layout;
}
