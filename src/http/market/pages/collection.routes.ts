import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { isSelling } from '#collections/selling/open-sale.queries.ts';
import {
  type CollectionNow,
  collectionPath,
  foundCollection,
} from '#http/market/collections/collection-parts.ts';
import {
  type CountedCollection,
  collectionStats,
  headView,
} from '#http/market/collections/collection-stats.routes.ts';
import { MarketQuery, marketParameters, parameter } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { listedItems } from '#market/lists/item-holder-lists.ts';
import { isSortable } from '#market/lists/item-orders.ts';
import { periodSeconds } from '#market/sales/recent-sales.ts';
import { sumsBetween, sumsByDay, sumsOf } from '#market/sales/sale-sums.ts';
import {
  type CollectionPageView,
  type CountedView,
  collectionPage,
  type WindowLine,
} from '#web/pages/collection.page.ts';
import { type ItemSort, itemSorts } from '#web/parts/item-filters.ts';
import { type KnownHead, knownHead } from './collection-head.ts';
import { type ItemsQuestion, itemsView } from './collection-items-view.ts';
import { barsOf, pageConfig, pageResponse } from './market-page-parts.ts';

const sorts = Object.keys(itemSorts) as ItemSort[];
const sortParameter = parameter('the order of the items', { type: 'string', enum: sorts, default: 'listed' });

/** Route of the page of a collection, which shows its sales and its items. */
export function collectionRoutes(app: App, deps: AppDependencies, reads: SaleReads): void {
  const { afterItem, pageNumber, q, trait } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/collection/:slug',
    schema: {
      operationId: 'collectionPage',
      summary: 'A collection of the market: price and volume, and its items',
      tags: ['pages'],
      params: collectionPath,
      querystring: Type.Object({ q, trait, sort: sortParameter, page: pageNumber, after: afterItem }),
      response: pageResponse,
    },
    config: pageConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query, request.params);
      const slug = query.slugOfPath();
      const asked = {
        query: query.searched(),
        traits: query.traits(),
        sort: query.choice('sort', sorts, 'listed'),
        page: query.pageNumber(),
        after: query.afterItem(),
      };
      query.refuse();
      const view = await reads.run(askerOf(reply), async (snapshot, mayWalk) => {
        const { client, tip } = snapshot;
        const now = await foundCollection(client, slug, tip);
        const known = await knownHead(reads, client, deps, now, mayWalk);
        if (known === null) return null;
        const value = await collectionView(reads, client, { ...now, ...known, asked }, mayWalk);
        return value === null ? null : { value };
      });
      return sendPage(reply, collectionPage(view), { thumbnails: true });
    },
  });
}

interface PageQuestion extends CollectionNow, KnownHead {
  readonly asked: ItemsQuestion;
}

/**
 * The view of a collection. `null` if it needs a full scan that is not allowed. Pages after the first show only items,
 * so only items are read for them.
 */
async function collectionView(
  reads: SaleReads,
  client: ClientBase,
  question: PageQuestion,
  mayWalk: boolean,
): Promise<CollectionPageView | null> {
  const { collection, head, countedFrom } = question;
  const asked = isSortable(collection) ? question.asked : inOwnOrder(question.asked);
  const isFirst = asked.after === null && asked.page === 1 && asked.sort === 'listed' && !narrows(asked);
  const stats = isFirst ? await collectionStats(reads, client, question, mayWalk) : 'left out';
  if (stats === null) return null;
  const items = await itemsView(reads, client, question, asked, mayWalk);
  if (items === null) return null;
  const { description, website, twitter, discord } = headView(collection);
  const links = [
    { words: 'Website', href: website },
    { words: 'Twitter', href: twitter },
    { words: 'Discord', href: discord },
  ];
  return {
    head,
    description: isFirst ? description : null,
    isMinting: isFirst && collection.kind === 'import' && (await isSelling(client, collection.slug)),
    links: links.flatMap(({ words, href }) => (href === null ? [] : [{ words, href }])),
    listed: listedItems(collection),
    counted: stats === 'left out' ? null : await countedView(client, question, stats),
    areSalesKnown: countedFrom !== null,
    ...items,
  };
}

/** Whether a query selects only a part of the items. */
const narrows = ({ query, traits }: ItemsQuestion): boolean => query !== '' || traits.length > 0;

/**
 * The query without its search text, traits, order and page number. If the collection is too large for these, they are
 * ignored.
 */
const inOwnOrder = ({ after }: ItemsQuestion): ItemsQuestion => ({
  query: '',
  traits: [],
  sort: 'listed',
  page: 1,
  after,
});

async function countedView(
  client: ClientBase,
  { tip, countedFrom }: PageQuestion,
  { shown: { holders, items, sales }, blocks }: CountedCollection,
): Promise<CountedView> {
  const [last, first] = [
    await blockAt(client, { kind: 'height', height: tip.height }),
    countedFrom === null ? null : await blockAt(client, { kind: 'height', height: countedFrom }),
  ];
  return {
    indexed: items.indexed,
    unknown: items.unknown,
    holderCount: holders,
    pendingFloor: sales?.pending?.floor?.price ?? null,
    windows:
      last === null || first === null || sales === null ? null : windowsOf(blocks, last.time, first.time),
    ...barsOf(sumsByDay(blocks)),
  };
}

const windows = [
  ['24 hours', periodSeconds.day],
  ['7 days', periodSeconds.week],
  ['30 days', periodSeconds.month],
] as const;

/**
 * Sums of the periods before the last block, and of all sales.
 *
 * @param end the time of the last block
 * @param start the time of the first block with counted sales
 */
function windowsOf(blocks: CountedCollection['blocks'], end: number, start: number): WindowLine[] {
  const spans = windows.map(([words, seconds]): WindowLine => {
    const from = end - seconds;
    // without an upper limit, because blocks may have later times than the last block, and their sales count too
    const sums = sumsBetween(blocks, from, Number.POSITIVE_INFINITY);
    return { words, sums, before: from - seconds < start ? null : sumsBetween(blocks, from - seconds, from) };
  });
  return [...spans, { words: 'all', sums: sumsOf(blocks), before: null }];
}
