import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { readsOrders } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { page, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { inventoryTypes } from '#inventory/inventory-types.ts';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { fileExtensions } from '#kernel/requests/file-types.ts';
import { minedWeightMax } from '#orders/inscribing/group-files.ts';
import { orderBounds } from '#orders/inscribing/order-terms.ts';
import { pushBytesMax } from '#orders/inscribing/reveal-script.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { contentBytesMax } from '#orders/reading/read-files.ts';
import { type InscribeLimits, inscribePage } from '#web/pages/inscribe.page.ts';
import { orderFormView } from './order-form-view.ts';

/** Paths that the page's script requests. */
const connects = ['/price', '/inscribe', '/order', '/mempool/api/v1/fees/recommended', '/inscription/'];

/** Number of bytes that encode the length of a push of 520 bytes. */
const lengthBytes = 3;

/**
 * Number of bytes above which a file certainly does not fit into a reveal, because the pushes of the file alone exceed
 * the reveal's weight. The price of an order uses the exact bound, which depends on all other parts of the order.
 */
const fileBytesMax = (weightMax: number): number =>
  Math.floor((weightMax * pushBytesMax) / (pushBytesMax + lengthBytes));

/** Route of the page on which customers order inscriptions. POST of the same path is the API. */
export function inscribeRoutes(app: App, deps: AppDependencies): void {
  const { inventory = null, prices = defaultPriceSettings } = deps;
  const limits: InscribeLimits = {
    extensions: fileExtensions.split(', '),
    filesMax: orderBounds.files,
    fileBytesMax: fileBytesMax(prices.nonStandard ? minedWeightMax : standardWeightMax),
    orderBytesMax: contentBytesMax,
  };
  apiRoute(app, {
    method: 'GET',
    url: '/inscribe',
    schema: {
      operationId: 'inscribePage',
      summary: 'The page on which people order inscriptions',
      tags: ['pages'],
      response: { 200: page('the page'), 304: unchanged },
    },
    config: { errors: 'plain', guard: readsOrders },
    handler: async (_request, reply) => {
      const view = {
        ...(await orderFormView(deps, reply)),
        limits,
        satributes: satributesInForce(deps).findable.map(({ id }) => id),
        rareSats: inventory === null ? [] : inventoryTypes,
      };
      return sendPage(reply, inscribePage(view), { connects });
    },
  });
}
