import { Type } from 'typebox';
import { requireSales } from '#chain/sales/sale.queries.ts';
import { MarketQuery, marketParameters, parameter } from '#http/market/market-query.ts';
import { salesNote } from '#http/market/market-views.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { newestSales } from '#market/sales/newest-sales.store.ts';
import { formatSalePlace } from '#market/sales/sale-id.ts';
import { marketActivityPage } from '#web/pages/market-activity.page.ts';
import { marketSaleLines, pageConfig, pageResponse } from './market-page-parts.ts';

/**
 * Maximum number of sales on a page. Each sale has a picture. The browser requests the picture when the sale comes near
 * the visible part.
 */
const salesPerPage = 50;

const satsForm = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const classes = ['all', 'sale', 'offer'] as const;
const washes = ['shown', 'hidden'] as const;

/** Route of the page that lists all sales of the market. */
export function marketActivityPageRoutes(app: App, deps: AppDependencies, reads: SaleReads): void {
  const { network } = deps;
  const { before: beforeParameter } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/market/activity',
    schema: {
      operationId: 'marketActivityPage',
      summary: 'All sales of inscriptions, newest first',
      tags: ['pages'],
      querystring: Type.Object({
        class: parameter('sales, accepted offers, or both', {
          type: 'string',
          enum: classes,
          default: 'all',
        }),
        from: parameter('lowest price in sats', satsForm),
        to: parameter('highest price in sats', satsForm),
        wash: parameter('whether sales with one seller and buyer are shown', {
          type: 'string',
          enum: washes,
          default: 'shown',
        }),
        before: beforeParameter,
      }),
      response: pageResponse,
    },
    config: pageConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query);
      const of = query.choice('class', classes, 'all');
      const from = query.sats('from');
      const to = query.sats('to');
      const wash = query.choice('wash', washes, 'shown');
      const before = query.before();
      query.refuse();
      const question = { before, from, to, class: of === 'all' ? null : of, withWash: wash === 'shown' };
      const view = await reads.run(askerOf(reply), async ({ client, tip }, mayWalk) => {
        await requireSales(client);
        const coverage = tip === null ? { from: null } : await reads.coverage.read(client, tip, mayWalk);
        if (coverage === null) return null;
        const { sales, next } = await newestSales(client, { ...question, limit: salesPerPage });
        const value = {
          site: siteOf(deps, tip),
          filters: { class: of, from: from?.toString() ?? '', to: to?.toString() ?? '', wash },
          sales: await marketSaleLines(client, sales, network),
          note: salesNote(network, false, coverage.from),
          isFirst: before === null,
          next: next === null ? null : formatSalePlace(next),
        };
        return { value };
      });
      return sendPage(reply, marketActivityPage(view), { thumbnails: true });
    },
  });
}
