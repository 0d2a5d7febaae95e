import { Type } from 'typebox';
import { readsOrders } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOfApp } from '#http/server/answers/site.ts';
import { page, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { checkoutPage } from '#web/pages/checkout.page.ts';
import { checkoutView } from './checkout-view.ts';

/** Paths that the page's script requests: the page itself, and PSBTs that pay the order. */
const connects = [
  '/tokenpay/checkout/',
  '/tokenpay/create-payment-psbt',
  '/tokenpay/utils/finalize-psbt',
  '/tokenpay/utils/submittx',
];

/** Route of the page on which customers of shops pay (docs/tokenpay.md, "Checkout"). */
export function checkoutRoutes(app: App, deps: AppDependencies): void {
  const { shopOrders = null, network } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/tokenpay/checkout/:id',
    schema: {
      operationId: 'checkoutPage',
      summary: 'The page on which the customer of a shop pays',
      tags: ['pages'],
      params: Type.Object({
        id: Type.String({
          description: 'the id of an order of a shop',
          examples: ['6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11'],
        }),
      }),
      response: { 200: page('the page'), 304: unchanged },
    },
    config: { errors: 'ownPage', guard: readsOrders, failures: [404] },
    handler: async (request, reply) => {
      const { id } = request.params;
      const checkout = shopOrders !== null && isOrderId(id) ? await shopOrders.checkout(id) : null;
      if (checkout === null)
        throw new AppError(
          'not_found',
          'there is no such order; open the link of the shop again, or ask the shop for a new link',
        );
      // hides the id in the path from pages that a link on this page opens
      reply.header('referrer-policy', 'no-referrer').header('x-robots-tag', 'noindex');
      reply.header('cache-control', 'no-store');
      const place = { site: siteOfApp(reply), network: network.name };
      const view = checkoutView(checkout, new Date(), place);
      return sendPage(reply, checkoutPage(view), { connects });
    },
  });
}
