import { Type } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { readsOrders } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOfApp } from '#http/server/answers/site.ts';
import { page, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { mintRunePage } from '#web/pages/mint-rune.page.ts';

/** Paths that the script of the page asks. */
const connects = ['/price', '/runes/mint', '/rune/', '/mempool/api/v1/fees/recommended'];

/** The page on which customers order mints of a rune. */
export function mintRuneRoutes(app: App, deps: AppDependencies): void {
  const { orders = null } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/mint-rune',
    schema: {
      operationId: 'mintRunePage',
      summary: 'The page on which people order mints of a rune',
      tags: ['pages'],
      querystring: Type.Object({
        rune: Type.Optional(
          Type.String({ description: 'the name that is filled in', examples: ['UNCOMMON•GOODS'] }),
        ),
      }),
      response: { 200: page('the page'), 304: unchanged },
    },
    config: { errors: 'plain', guard: readsOrders },
    handler: async (_request, reply) => {
      const view = {
        site: siteOfApp(reply),
        network: deps.network.name,
        closed:
          orders === null ? 'this service takes no orders' : await orders.whyClosed(askerOf(reply).signal),
        demoAddress: deps.demo?.receiver ?? null,
      };
      return sendPage(reply, mintRunePage(view), { connects });
    },
  });
}
