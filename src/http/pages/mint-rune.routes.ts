import { Type } from 'typebox';
import { readsOrders } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { page, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { mintRunePage } from '#web/pages/mint-rune.page.ts';
import { orderFormView } from './order-form-view.ts';

/** Paths that the page's script requests. */
const connects = ['/price', '/runes/mint', '/rune/', '/mempool/api/v1/fees/recommended'];

/** Route of the page on which customers order mints of a rune. */
export function mintRuneRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/mint-rune',
    schema: {
      operationId: 'mintRunePage',
      summary: 'The page on which people order mints of a rune',
      tags: ['pages'],
      querystring: Type.Object({
        rune: Type.Optional(
          Type.String({ description: 'a name that the form begins with', examples: ['UNCOMMON•GOODS'] }),
        ),
      }),
      response: { 200: page('the page'), 304: unchanged },
    },
    config: { errors: 'plain', guard: readsOrders },
    handler: async (_request, reply) => {
      const view = await orderFormView(deps, reply);
      return sendPage(reply, mintRunePage(view), { connects });
    },
  });
}
