import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { requireSales } from '#chain/sales/sale.queries.ts';
import { dayText, holderView } from '#http/market/collection-views.ts';
import {
  type CollectionNow,
  collectionPath,
  foundCollection,
  itemsView,
  provenAt,
} from '#http/market/collections/collection-parts.ts';
import { holdersKnown } from '#http/market/collections/collection-stats.routes.ts';
import { MarketQuery, marketParameters } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { holdersIn, listedHoldersMax } from '#market/lists/item-holders.store.ts';
import { readCollectionSales } from '#market/sales/collection-sales.store.ts';
import { pageOfSales, type SoldInBlock, salesIn } from '#market/sales/sale-places.ts';
import { sumsByDay } from '#market/sales/sale-sums.ts';
import type { Markup } from '#web/html.ts';
import { collectionActivityPage } from '#web/pages/collection-activity.page.ts';
import { collectionDaysPage } from '#web/pages/collection-days.page.ts';
import { collectionHoldersPage, holdersPerPage } from '#web/pages/collection-holders.page.ts';
import type { CollectionHead } from '#web/parts/collection-frame.ts';
import { knownHead } from './collection-head.ts';
import { barsOf, pageConfig, pageResponse, saleLine } from './market-page-parts.ts';

/**
 * Maximum number of sales on a page. Each sale has a picture. The browser requests the picture when the sale comes near
 * the visible part.
 */
const salesPerPage = 50;
const daysPerPage = 100;

interface TabQuestion extends CollectionNow {
  readonly head: CollectionHead;
  readonly mayWalk: boolean;
  /** Number of the page, from 1. */
  readonly page: number;
}

/** Makes the page of a tab. Returns `null` if it needs a full scan that is not allowed. */
type ShowTab = (client: ClientBase, question: TabQuestion) => Promise<Markup | null>;

interface Tab {
  readonly path: 'activity' | 'days' | 'holders';
  readonly operationId: string;
  readonly summary: string;
  readonly show: ShowTab;
}

/** Routes of all pages of a collection, except the page of its items. */
export function collectionTabsRoutes(app: App, deps: AppDependencies, reads: SaleReads): void {
  for (const tab of [activityTab(deps, reads), daysTab(reads), holdersTab(deps, reads)])
    tabRoute(app, deps, reads, tab);
}

function tabRoute(
  app: App,
  deps: AppDependencies,
  reads: SaleReads,
  { path, operationId, summary, show }: Tab,
): void {
  apiRoute(app, {
    method: 'GET',
    url: `/collection/:slug/${path}`,
    schema: {
      operationId,
      summary,
      tags: ['pages'],
      params: collectionPath,
      querystring: Type.Object({ page: marketParameters.pageNumber }),
      response: pageResponse,
    },
    config: pageConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query, request.params);
      const slug = query.slugOfPath();
      const page = query.pageNumber();
      query.refuse();
      const shown = await reads.run(askerOf(reply), async ({ client, tip }, mayWalk) => {
        const now = await foundCollection(client, slug, tip);
        const known = await knownHead(reads, client, deps, now, mayWalk);
        if (known === null) return null;
        const value = await show(client, { ...now, head: known.head, mayWalk, page });
        return value === null ? null : { value };
      });
      return sendPage(reply, shown, { thumbnails: true });
    },
  });
}

/** Blocks with sales of the collection. `null` if they need a full scan that is not allowed. */
async function soldBlocks(
  client: ClientBase,
  reads: SaleReads,
  { collection, tip, mayWalk }: TabQuestion,
): Promise<readonly SoldInBlock[] | null> {
  await requireSales(client);
  return reads.lists.read(client, collection, tip, mayWalk);
}

const activityTab = ({ network }: AppDependencies, reads: SaleReads): Tab => ({
  path: 'activity',
  operationId: 'collectionActivityPage',
  summary: 'The sales of a collection, newest first',
  show: async (client, question) => {
    const { collection, head, page } = question;
    const blocks = await soldBlocks(client, reads, question);
    if (blocks === null) return null;
    const count = blocks.reduce((sum, block) => sum + salesIn(block), 0);
    const asked = { since: null, order: 'desc', page: page - 1, limit: salesPerPage } as const;
    const sales = await readCollectionSales(client, collection, pageOfSales(blocks, asked));
    const lines = sales.map((sale) => {
      const { id, name } = sale.item;
      return saleLine(sale, { id, name, collection: null }, network);
    });
    return collectionActivityPage({ head, sales: lines, count, ...pagesOf(page, count, salesPerPage) });
  },
});

const daysTab = (reads: SaleReads): Tab => ({
  path: 'days',
  operationId: 'collectionDaysPage',
  summary: 'The sales of a collection by day',
  show: async (client, question) => {
    const { head, page } = question;
    const blocks = await soldBlocks(client, reads, question);
    if (blocks === null) return null;
    const all = sumsByDay(blocks);
    const days = all
      .toReversed()
      .slice((page - 1) * daysPerPage, page * daysPerPage)
      .map(({ day, ...sums }) => ({ day: dayText(day), ...sums }));
    const pages = pagesOf(page, all.length, daysPerPage);
    return collectionDaysPage({ head, days, ...barsOf(all), count: all.length, ...pages });
  },
});

const holdersTab = ({ network }: AppDependencies, reads: SaleReads): Tab => ({
  path: 'holders',
  operationId: 'collectionHoldersPage',
  summary: 'The holders of a collection’s items',
  show: async (client, { collection, tip, head, mayWalk, page }) => {
    const read = await reads.holders.read(client, collection, tip.height, mayWalk);
    if (read === 'walk') return null;
    const proven = provenAt(read, tip.height);
    const { holders } = proven;
    const listed = Math.min(holders.count, listedHoldersMax);
    const rows = holdersIn(holders.packed, (page - 1) * holdersPerPage, holdersPerPage);
    return collectionHoldersPage({
      head,
      holders: rows.map(({ script, items }) => ({
        ...holderView(script, network),
        items,
        share: items / holders.indexed,
      })),
      count: holdersKnown(collection, proven),
      listed,
      items: itemsView(collection, holders),
      ...pagesOf(page, listed, holdersPerPage),
    });
  },
});

const pagesOf = (page: number, rows: number, each: number) => ({ page, totalPages: Math.ceil(rows / each) });
