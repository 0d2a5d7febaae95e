import { readsOrders } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { page, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { etchPage } from '#web/pages/etch.page.ts';
import { orderFormView } from './order-form-view.ts';

/** Paths that the page's script requests. */
const connects = ['/price', '/runes/etch', '/rune/', '/mempool/api/v1/fees/recommended'];

/** Route of the page on which customers order etchings. */
export function etchRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/etch',
    schema: {
      operationId: 'etchPage',
      summary: 'The page on which people order the etching of a rune',
      tags: ['pages'],
      response: { 200: page('the page'), 304: unchanged },
    },
    config: { errors: 'plain', guard: readsOrders },
    handler: async (_request, reply) => {
      const view = await orderFormView(deps, reply);
      return sendPage(reply, etchPage(view), { connects });
    },
  });
}
