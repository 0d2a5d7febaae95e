import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import { areSalesLeftOut } from '#chain/sales/sale.queries.ts';
import { idText } from '#http/market/collection-views.ts';
import {
  byNumber,
  type ListedCollections,
  listedCollections,
  periodsOf,
} from '#http/market/collections/collections.routes.ts';
import { MarketQuery, marketParameters, parameter } from '#http/market/market-query.ts';
import { salesNote } from '#http/market/market-views.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { FoundCollection } from '#market/collections/market-slug.store.ts';
import type { CollectionOrder } from '#market/lists/collection-search.store.ts';
import { listedItems } from '#market/lists/item-holder-lists.ts';
import { newestSales } from '#market/sales/newest-sales.store.ts';
import type { RecentSums } from '#market/sales/recent-sales.ts';
import {
  type CollectionLine,
  type MarketSort,
  marketPage,
  marketSorts,
  naturalOrder,
} from '#web/pages/market.page.ts';
import type { SaleLine } from '#web/parts/sale-rows.ts';
import { barsOf, marketSaleLines, pageConfig, pageResponse } from './market-page-parts.ts';

const collectionsPerPage = 50;
/** Maximum number of sales on the first page. They fill a screen. All sales are on a page of their own. */
const salesShown = 8;

const sortNames = Object.keys(marketSorts) as MarketSort[];
const sortParameter = parameter('the property that collections are sorted by', {
  type: 'string',
  enum: sortNames,
});
const orderParameter = parameter(
  'smallest or largest first; absent: names from A, numbers from the largest down',
  {
    type: 'string',
    enum: ['asc', 'desc'],
  },
);

/** Route of the market's first page. */
export function marketPageRoutes(app: App, deps: AppDependencies, reads: SaleReads): void {
  const { network } = deps;
  const { q, page: pageParameter } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/market',
    schema: {
      operationId: 'marketPage',
      summary:
        'The collections of the market, their sales of a day, a week and a month, and the newest sales',
      tags: ['pages'],
      querystring: Type.Object({ q, sort: sortParameter, order: orderParameter, page: pageParameter }),
      response: pageResponse,
    },
    config: pageConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query);
      const text = query.searched();
      const sort = query.choice('sort', sortNames, 'volume-week');
      const order = query.choice('order', ['asc', 'desc'], naturalOrder(sort));
      const page = query.page();
      query.refuse();
      const sorted = (recent: RecentSums): CollectionOrder => orderOf(recent, sort, order === 'desc');
      const question = { text, sorted, page, limit: collectionsPerPage };
      const isFirst = page === 0 && text === '';
      const view = await reads.run(askerOf(reply), async (snapshot, mayWalk) => {
        const { client, tip } = snapshot;
        const listed = await listedCollections(reads, snapshot, question, mayWalk);
        if (listed === null) return null;
        const { found, recent, nextPage, countedFrom } = listed;
        const note = salesNote(network, await areSalesLeftOut(client), countedFrom);
        const value = {
          site: siteOf(deps, tip),
          query: text,
          sort,
          order,
          collections: found.map((collection) => collectionLine(collection, recent)),
          all: isFirst ? (recent?.all ?? null) : null,
          bars: isFirst ? barsOf(recent?.days ?? []).volumes : [],
          sales: isFirst ? await latestSales(client, deps, listed) : [],
          note,
          page,
          nextPage,
        };
        return { value };
      });
      return sendPage(reply, marketPage(view), { thumbnails: true });
    },
  });
}

function orderOf(recent: RecentSums, sort: MarketSort, isDescending: boolean): CollectionOrder {
  if (sort === 'name' || sort === 'items') return { of: sort, values: new Map(), isDescending };
  const [of, period] = sort.split('-') as [
    'volume' | 'sales' | 'lowest',
    'day' | 'week' | 'month' | undefined,
  ];
  return byNumber(recent, (sums) => sums[period ?? 'week'][of], isDescending);
}

const collectionLine = (collection: FoundCollection, recent: RecentSums | null): CollectionLine => ({
  slug: collection.slug,
  name: collection.name,
  icon: collection.icon === null ? null : idText(collection.icon),
  items: listedItems(collection),
  sold: periodsOf(collection, recent),
});

/** The newest sales. Empty while sales are unknown. */
async function latestSales(
  client: ClientBase,
  { network }: AppDependencies,
  { recent }: ListedCollections,
): Promise<SaleLine[]> {
  if (recent === null || !(await isComplete(client, 'sales'))) return [];
  const all = { before: null, class: null, from: null, to: null, withWash: true };
  const { sales } = await newestSales(client, { ...all, limit: salesShown });
  return marketSaleLines(client, sales, network);
}
