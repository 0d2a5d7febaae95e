import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { areSalesLeftOut } from '#chain/sales/sale.queries.ts';
import { holderView, idText } from '#http/market/collection-views.ts';
import { MarketQuery, marketParameters } from '#http/market/market-query.ts';
import { salesNote } from '#http/market/market-views.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { daySpans, totalIn } from '#http/pages/day-spans.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { marketReads } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { type SiteDependencies, siteOf } from '#http/server/answers/site.ts';
import { page as pageAnswer, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { ownerText } from '#kernel/bitcoin/stored-owner.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { FoundCollection } from '#market/collections/market-slug.store.ts';
import type { CollectionItemDetail } from '#market/lists/collection-items.store.ts';
import { listedItems } from '#market/lists/item-holder-lists.ts';
import { holdersIn } from '#market/lists/item-holders.store.ts';
import { type CollectionSale, readCollectionSales } from '#market/sales/collection-sales.store.ts';
import { pageOfSales, type SoldInBlock } from '#market/sales/sale-places.ts';
import { sumsByDay } from '#market/sales/sale-sums.ts';
import {
  type CollectionPageView,
  type CountedView,
  collectionPage,
  type ItemLine,
  type SaleLine,
} from '#web/pages/collection.page.ts';
import { marketPage } from '#web/pages/market.page.ts';
import type { Bar } from '#web/parts/chart.ts';
import { itemsPage } from './collection-items.routes.ts';
import { type CollectionNow, collectionPath, foundCollection } from './collection-parts.ts';
import { type CountedCollection, collectionStats, headView } from './collection-stats.routes.ts';
import { listedCollections } from './collections.routes.ts';

const collectionsPerPage = 50;
/** With a picture each, which the browser asks for when it comes near the screen. */
const itemsPerPage = 60;
const salesShown = 20;
const holdersShown = 20;

const config = { errors: 'ownPage', guard: marketReads, isDear: true } as const;
const response = { 200: pageAnswer('the page'), 304: unchanged };

/** The pages of the market. */
export function marketPagesRoutes(app: App, deps: AppDependencies, reads: SaleReads): void {
  const { q, page: pageParameter, afterItem } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/market',
    schema: {
      operationId: 'marketPage',
      summary: 'The collections of the market, with what they sold in seven days',
      tags: ['pages'],
      querystring: Type.Object({ q, page: pageParameter }),
      response,
    },
    config,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query);
      const text = query.searched();
      const page = query.page();
      query.refuse();
      const question = { text, sorted: 'volume', page, limit: collectionsPerPage } as const;
      const view = await reads.run(askerOf(reply), async (snapshot, mayWalk) => {
        const found = await listedCollections(reads, snapshot, question, mayWalk);
        if (found === null) return null;
        const { collections, nextPage, countedFrom } = found.value;
        const note = salesNote(deps.network, await areSalesLeftOut(snapshot.client), countedFrom);
        const site = siteOf(deps, snapshot.tip);
        return { value: { site, query: text, collections, note, page, nextPage } };
      });
      return sendPage(reply, marketPage(view), { thumbnails: true });
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/collection/:slug',
    schema: {
      operationId: 'collectionPage',
      summary: 'A collection of the market: price and volume, sales, holders and items',
      tags: ['pages'],
      params: collectionPath,
      querystring: Type.Object({ after: afterItem }),
      response,
    },
    config,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query, request.params);
      const slug = query.slugOfPath();
      const after = query.afterItem();
      query.refuse();
      const view = await reads.run(askerOf(reply), async (snapshot, mayWalk) => {
        const now = await foundCollection(snapshot.client, slug, snapshot.tip);
        const found = await collectionView(reads, snapshot, deps, { now, after }, mayWalk);
        return found === null ? null : { value: found };
      });
      return sendPage(reply, collectionPage(view), { thumbnails: true });
    },
  });
}

interface PageQuestion {
  readonly now: CollectionNow;
  readonly after: InscriptionId | null;
}

/** Null: it takes a walk, which it may not make. A later page has items alone, so nothing else is read for it. */
async function collectionView(
  reads: SaleReads,
  { client }: Pick<Snapshot, 'client'>,
  deps: SiteDependencies,
  { now, after }: PageQuestion,
  mayWalk: boolean,
): Promise<CollectionPageView | null> {
  const { network } = deps;
  const { collection, tip } = now;
  const stats = after === null ? await collectionStats(reads, client, now, mayWalk) : 'left out';
  if (stats === null) return null;
  const page = await itemsPage(client, collection, { after, limit: itemsPerPage }, mayWalk);
  const coverage = await reads.coverage.read(client, tip, mayWalk);
  if (page === null || coverage === null) return null;
  const areLeftOut = await areSalesLeftOut(client);
  const { slug, name, kind, icon, description, website, twitter, discord } = headView(collection);
  const links = [
    { words: 'Website', href: website },
    { words: 'Twitter', href: twitter },
    { words: 'Discord', href: discord },
  ];
  return {
    site: siteOf(deps, tip),
    slug,
    name,
    kind,
    icon,
    description,
    links: links.flatMap(({ words, href }) => (href === null ? [] : [{ words, href }])),
    listed: listedItems(collection),
    counted: stats === 'left out' ? null : await countedView(client, network, collection, stats),
    note: salesNote(network, areLeftOut, coverage.from),
    areSalesKnown: !areLeftOut && coverage.from !== null,
    page: page.items.map(itemLine),
    after: after === null ? null : idText(after),
    nextAfter: page.nextAfter,
  };
}

async function countedView(
  client: ClientBase,
  network: NetworkParameters,
  collection: FoundCollection,
  { shown: { holders: holderCount, items, sales: sums }, blocks, holders }: CountedCollection,
): Promise<CountedView> {
  const newest = pageOfSales(blocks, { since: null, order: 'desc', page: 0, limit: salesShown });
  const sales = await readCollectionSales(client, collection, newest);
  return {
    indexed: items.indexed,
    unknown: items.unknown,
    holderCount,
    total: sums === null ? null : (sums.total ?? 'unknown'),
    pendingFloor: sums?.pending?.floor?.price ?? null,
    ...barsOf(blocks),
    sales: sales.map((sale) => saleLine(sale, network)),
    holders: holdersIn(holders.packed, 0, holdersShown).map(({ script, items: held }) => ({
      ...holderView(script, network),
      items: held,
      share: held / items.indexed,
    })),
  };
}

/** Volumes and mean prices from the first to the last day with a sale. Wash trades are in neither. */
function barsOf(blocks: readonly SoldInBlock[]): { volumes: Bar[]; prices: Bar[] } {
  const days = sumsByDay(blocks).filter(({ sales }) => sales > 0);
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  const spans = first === undefined || last === undefined ? [] : daySpans(first, last);
  const sums = spans.map((span) => ({
    label: span.label,
    volume: totalIn(span, days, ({ volume }) => volume),
    sales: totalIn(span, days, ({ sales }) => sales),
  }));
  return {
    volumes: sums.map(({ label, volume }) => ({ label, count: volume, href: null })),
    prices: sums.map(({ label, volume, sales }) => ({
      label,
      count: sales === 0 ? 0 : Math.round(volume / sales),
      href: null,
    })),
  };
}

const saleLine = (
  { item, price, time, txid, maker, taker, isWash }: CollectionSale,
  network: NetworkParameters,
): SaleLine => ({
  inscriptionId: idText(item.id),
  name: item.name,
  price,
  time,
  txid: displayHash(txid),
  maker: ownerText(maker, network),
  taker: taker === null ? null : ownerText(taker, network),
  wash: isWash,
});

const itemLine = ({ id, name, isIndexed, lastSale }: CollectionItemDetail): ItemLine => ({
  inscriptionId: idText(id),
  name,
  indexed: isIndexed,
  lastSale: lastSale === null ? null : { price: lastSale.price, wash: lastSale.isWash },
});
