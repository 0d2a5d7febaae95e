import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import {
  countedFrom,
  idText,
  kindOfCollection,
  nullable,
  sumsSchema,
  sumsView,
} from '#http/market/collection-views.ts';
import { MarketQuery, marketParameters } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { type FoundCollection, findMarketCollection } from '#market/collections/market-slug.store.ts';
import {
  type CollectionOrder,
  type CollectionSearch,
  searchCollections,
} from '#market/lists/collection-search.store.ts';
import { listedItems } from '#market/lists/item-holder-lists.ts';
import { noPeriodSales, type PeriodSums, type RecentSums } from '#market/sales/recent-sales.ts';
import { collectionConfig } from './collection-parts.ts';

const collectionSchema = Type.Object({
  slug: Type.String(),
  kind: kindOfCollection,
  name: Type.String(),
  icon: nullable(
    Type.String({ description: 'the id of an inscription: /thumbnails/<icon>.jpeg is its picture' }),
  ),
  items: Type.Integer({ description: 'items that the collection names, indexed or not' }),
  week: nullable(sumsSchema),
});

const listAnswer = Type.Object({
  height: nullable(
    Type.Integer({ description: 'the state after the block at this height; null: no block is indexed' }),
  ),
  countedFrom,
  collections: Type.Array(collectionSchema),
  nextPage: nullable(Type.Integer({ description: 'null: this is the last page' })),
});

/** Route of the market's collections (docs/marketplace-api.md, "List of collections"). */
export function collectionsRoutes(app: App, reads: SaleReads): void {
  const { q, sort, page: pageParameter, limit: limitParameter } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/collections',
    schema: {
      operationId: 'marketCollections',
      summary: 'The imported collections, with their sales of the last seven days',
      description:
        'week is null if sales are not indexed, if countedFrom is null, and for parents and galleries, which are listed if q is their id.',
      tags: ['market'],
      querystring: Type.Object({ q, sort, page: pageParameter, limit: limitParameter }),
      response: { 200: listAnswer },
    },
    config: collectionConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query);
      const text = query.searched();
      const sorted =
        query.sort() === 'slug'
          ? () => null
          : (recent: RecentSums) => byNumber(recent, ({ week }) => week.volume);
      const page = query.page();
      const limit = query.limit();
      query.refuse();
      // imports can change the list between two blocks, so it must not be cached
      reply.header('cache-control', 'no-store');
      return reads.run(askerOf(reply), async (snapshot, mayWalk) => {
        if (snapshot.tip !== null) reply.header('x-indexed-height', snapshot.tip.height);
        const listed = await listedCollections(reads, snapshot, { text, sorted, page, limit }, mayWalk);
        if (listed === null) return null;
        const { height, countedFrom: from, found, recent, nextPage } = listed;
        const collections = found.map((collection) => listedView(collection, recent));
        return { value: { height, countedFrom: from, collections, nextPage } };
      });
    },
  });
}

export interface ListQuestion {
  readonly text: string;
  /** Returns the order by recent sales. `null` if the order is by slug. */
  readonly sorted: (recent: RecentSums) => CollectionOrder | null;
  /** Number of the page, from 0. */
  readonly page: number;
  readonly limit: number;
}

/** A page of the list of collections. */
export interface ListedCollections {
  readonly height: Height | null;
  readonly countedFrom: Height | null;
  readonly found: readonly FoundCollection[];
  /** Sums of recent sales. `null` if sales are not indexed, or if the table of sales has not reached the last block. */
  readonly recent: RecentSums | null;
  readonly nextPage: number | null;
}

/** A page of the list. `null` if it needs a full scan that is not allowed. */
export async function listedCollections(
  reads: SaleReads,
  { client, tip }: Snapshot,
  { text, sorted, page, limit }: ListQuestion,
  mayWalk: boolean,
): Promise<ListedCollections | null> {
  const recent = tip === null ? null : await reads.recent.read(client, tip, mayWalk);
  if (recent === 'walk') return null;
  const coverage =
    tip === null || recent === null ? { from: null } : await reads.coverage.read(client, tip, mayWalk);
  if (coverage === null) return null;
  const by = sorted(recent ?? nothingRecent);
  const found = await foundBy(client, text, { by, offset: page * limit, limit: limit + 1 });
  return {
    height: tip?.height ?? null,
    countedFrom: coverage.from,
    found: found.slice(0, limit),
    recent: coverage.from === null ? null : recent,
    nextPage: found.length > limit ? page + 1 : null,
  };
}

const nothingRecent: RecentSums = { imports: new Map(), all: noPeriodSales, days: [] };

/** Orders collections by a number, largest first. Collections without a number come last, by slug. */
export function byNumber(
  { imports }: RecentSums,
  numberOf: (sums: PeriodSums) => number | null,
  isDescending = true,
): CollectionOrder {
  const values = [...imports].flatMap(([slug, sums]) => {
    const value = numberOf(sums);
    return value === null || value === 0 ? [] : [[slug, value] as const];
  });
  return { of: 'given', values: new Map(values), isDescending };
}

type PlaceInList = Omit<CollectionSearch, 'text'>;

/**
 * Finds imports whose name or slug contains a text. If the text is an inscription id, finds the collection of that
 * parent or gallery.
 */
async function foundBy(client: ClientBase, text: string, place: PlaceInList): Promise<FoundCollection[]> {
  if (parseInscriptionId(text) === null) return searchCollections(client, { text, ...place });
  const found = place.offset === 0 ? await findMarketCollection(client, text) : null;
  return found === null ? [] : [found];
}

/**
 * Sums of a collection's sales in each period. `null` if the sums are unknown. It is also `null` if the collection
 * comes from the chain, because the sales of such collections are not summed.
 */
export function periodsOf({ kind, slug }: FoundCollection, recent: RecentSums | null): PeriodSums | null {
  return kind === 'import' && recent !== null ? (recent.imports.get(slug) ?? noPeriodSales) : null;
}

function listedView(
  collection: FoundCollection,
  recent: RecentSums | null,
): Type.Static<typeof collectionSchema> {
  const { slug, kind, name, icon } = collection;
  const sums = periodsOf(collection, recent);
  return {
    slug,
    kind,
    name,
    icon: icon === null ? null : idText(icon),
    items: listedItems(collection),
    week: sums === null ? null : sumsView(sums.week),
  };
}
