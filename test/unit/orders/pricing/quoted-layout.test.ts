import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import type { StoredQuote } from '#orders/order/order-request.ts';
import { keptSizeFees, quotedLayout } from '#orders/pricing/quoted-layout.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { orders, somePrices } from '../inscribing/made-orders.ts';

test('an order is planned as quoted, whatever the service earns by it', () => {
  fc.assert(
    fc.property(orders, somePrices, (terms, prices) => {
      const quote = quoteOrder(terms, prices);
      if (quote.kind === 'refused') return;
      const kept = {
        serviceFee: Number(quote.serviceFee),
        postage: Number(quote.postage),
        ...keptSizeFees(quote.layout),
      } as StoredQuote;
      expect(quotedLayout(terms, kept)).toEqual(quote.layout);
    }),
    { numRuns: propertyRuns(300) },
  );
});
