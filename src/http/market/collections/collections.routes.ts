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
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { type FoundCollection, findMarketCollection } from '#market/collections/market-slug.store.ts';
import { searchCollections } from '#market/lists/collection-search.store.ts';
import { listedItems } from '#market/lists/item-holder-lists.ts';
import { noSales } from '#market/sales/sale-sums.ts';
import type { WeekSums } from '#market/sales/week-sales.ts';
import { collectionConfig } from './collection-parts.ts';

const collectionSchema = Type.Object({
  slug: Type.String(),
  kind: kindOfCollection,
  name: Type.String(),
  icon: nullable(
    Type.String({ description: 'the id of an inscription: /thumbnails/<icon>.jpeg is its picture' }),
  ),
  items: Type.Integer({ description: 'named by the collection, indexed or not' }),
  week: nullable(sumsSchema),
});

const listAnswer = Type.Object({
  height: nullable(Type.Integer({ description: 'after the block at this height; null: none is indexed' })),
  countedFrom,
  collections: Type.Array(collectionSchema),
  nextPage: nullable(Type.Integer({ description: 'null: this is the last one' })),
});

/** The collections of the market (docs/marketplace-api.md, "List of collections"). */
export function collectionsRoutes(app: App, reads: SaleReads): void {
  const { q, sort, page: pageParameter, limit: limitParameter } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/collections',
    schema: {
      operationId: 'marketCollections',
      summary: 'The imported collections, with what they sold in the last seven days',
      description:
        'week is null where sales are not indexed, where countedFrom is null, and for parents and galleries, which are listed where q is their id.',
      tags: ['market'],
      querystring: Type.Object({ q, sort, page: pageParameter, limit: limitParameter }),
      response: { 200: listAnswer },
    },
    config: collectionConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query);
      const text = query.searched();
      const sorted = query.sort();
      const page = query.page();
      const limit = query.limit();
      query.refuse();
      // imports change between two blocks
      reply.header('cache-control', 'no-store');
      return reads.run(askerOf(reply), async (snapshot, mayWalk) => {
        if (snapshot.tip !== null) reply.header('x-indexed-height', snapshot.tip.height);
        return listedCollections(reads, snapshot, { text, sorted, page, limit }, mayWalk);
      });
    },
  });
}

export interface ListQuestion {
  readonly text: string;
  readonly sorted: 'volume' | 'slug';
  /** From 0. */
  readonly page: number;
  readonly limit: number;
}

export type ListedCollections = Type.Static<typeof listAnswer>;

/** A page of the list. Null: it takes a walk, which it may not make. */
export async function listedCollections(
  reads: SaleReads,
  { client, tip }: Snapshot,
  { text, sorted, page, limit }: ListQuestion,
  mayWalk: boolean,
): Promise<{ value: ListedCollections } | null> {
  const week = tip === null ? null : await reads.week.read(client, tip, mayWalk);
  if (week === 'walk') return null;
  const coverage =
    tip === null || week === null ? { from: null } : await reads.coverage.read(client, tip, mayWalk);
  if (coverage === null) return null;
  const found = await foundBy(client, text, {
    byVolume: sorted === 'volume' ? week : null,
    offset: page * limit,
    limit: limit + 1,
  });
  return {
    value: {
      height: tip?.height ?? null,
      countedFrom: coverage.from,
      collections: found
        .slice(0, limit)
        .map((collection) => listedView(collection, coverage.from === null ? null : week)),
      nextPage: found.length > limit ? page + 1 : null,
    },
  };
}

interface PlaceInList {
  readonly byVolume: WeekSums | null;
  readonly offset: number;
  readonly limit: number;
}

/** Imports by name or slug; the parent or gallery of an id. */
async function foundBy(
  client: ClientBase,
  text: string,
  { byVolume, offset, limit }: PlaceInList,
): Promise<FoundCollection[]> {
  if (parseInscriptionId(text) === null) return searchCollections(client, { text, byVolume, offset, limit });
  const found = offset === 0 ? await findMarketCollection(client, text) : null;
  return found === null ? [] : [found];
}

function listedView(
  collection: FoundCollection,
  week: WeekSums | null,
): Type.Static<typeof collectionSchema> {
  const { slug, kind, name, icon } = collection;
  const sums = kind === 'import' && week !== null ? (week.get(slug) ?? noSales) : null;
  return {
    slug,
    kind,
    name,
    icon: icon === null ? null : idText(icon),
    items: listedItems(collection),
    week: sums === null ? null : sumsView(sums),
  };
}
