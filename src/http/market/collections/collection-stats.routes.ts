import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { mempoolState } from '#chain/pending/pending.queries.ts';
import { areSalesLeftOut } from '#chain/sales/sale.queries.ts';
import {
  countedFrom,
  dayText,
  idText,
  kindOfCollection,
  nullable,
  sumsSchema,
  sumsView,
} from '#http/market/collection-views.ts';
import { MarketQuery } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { open } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { FoundCollection } from '#market/collections/market-slug.store.ts';
import { listedItems, type ProvenHolders } from '#market/lists/item-holder-lists.ts';
import type { ItemHolders } from '#market/lists/item-holders.store.ts';
import { type CollectionSale, readCollectionSales } from '#market/sales/collection-sales.store.ts';
import { pendingFloor } from '#market/sales/pending-sales.store.ts';
import type { SaleCoverage } from '#market/sales/sale-coverage.ts';
import { pageOfSales, type SoldInBlock } from '#market/sales/sale-places.ts';
import { sumsByDay, sumsOf } from '#market/sales/sale-sums.ts';
import {
  answerOfCollection,
  type CollectionNow,
  collectionConfig,
  collectionPath,
  itemsSchema,
  itemsView,
  lastSaleParts,
  momentParts,
  momentView,
  provenAt,
  saleView,
} from './collection-parts.ts';

const statsAnswer = Type.Object({
  slug: Type.String(),
  kind: kindOfCollection,
  name: Type.String(),
  icon: nullable(Type.String()),
  description: nullable(Type.String({ description: 'only of an import' })),
  website: nullable(Type.String()),
  twitter: nullable(Type.String()),
  discord: nullable(Type.String()),
  ...momentParts,
  items: itemsSchema,
  holders: nullable(
    Type.Integer({ minimum: 0, description: 'null: no holder is known, although some items may have one' }),
  ),
  sales: nullable(
    Type.Object(
      {
        countedFrom,
        total: nullable(sumsSchema),
        last: nullable(
          Type.Object({ inscriptionId: Type.String(), inscriptionName: Type.String(), ...lastSaleParts }),
        ),
        days: Type.Array(
          Type.Object({
            day: Type.String({ description: 'UTC day of block time' }),
            ...sumsSchema.properties,
          }),
          { description: 'days with a known sale, earliest first' },
        ),
        pending: nullable(
          Type.Object(
            {
              floor: nullable(
                Type.Object(
                  {
                    price: Type.Integer({ minimum: 0, description: 'sats' }),
                    inscriptionId: Type.String(),
                    txid: Type.String(),
                  },
                  { description: 'the cheapest pending sale, without wash trades; null: there is none' },
                ),
              ),
            },
            { description: 'null: the mempool is not followed' },
          ),
        ),
      },
      { description: 'null: this server does not index sales' },
    ),
  ),
});

/** Route of a collection's path without a suffix. It has no data; its response names the paths that have data. */
function collectionAlone(app: App): void {
  app.route({
    method: 'GET',
    url: '/marketplace/data/collections/:slug',
    schema: { hide: true },
    config: { errors: 'market', guard: open },
    handler: async () => {
      const message = 'this path has no data; request /stats, /items or /holders below it';
      throw new AppError('not_found', message, { parameter: 'slug', place: 'path' });
    },
  });
}

/**
 * Route of numbers about a collection's items, holders and sales (docs/marketplace-api.md, "Statistics of a
 * collection").
 */
export function collectionStatsRoutes(app: App, reads: SaleReads): void {
  collectionAlone(app);
  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/collections/:slug/stats',
    schema: {
      operationId: 'collectionStats',
      summary: 'Items, holders and sales of a collection, with its volume by day',
      tags: ['market'],
      params: collectionPath,
      response: { 200: statsAnswer },
    },
    config: collectionConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query, request.params);
      const slug = query.slugOfPath();
      query.refuse();
      return answerOfCollection(reads, reply, slug, async (client, now, mayWalk) => {
        const stats = await collectionStats(reads, client, now, mayWalk);
        return stats === null ? null : stats.shown;
      });
    },
  });
}

export type CollectionStats = Type.Static<typeof statsAnswer>;

/** The statistics, and the data from which they are computed. All come from one snapshot, which a page needs. */
export interface CountedCollection {
  readonly shown: CollectionStats;
  readonly blocks: readonly SoldInBlock[];
  readonly holders: ItemHolders;
}

/** The statistics of a collection. `null` if they need a full scan that is not allowed. */
export async function collectionStats(
  reads: SaleReads,
  client: ClientBase,
  { collection, tip }: CollectionNow,
  mayWalk: boolean,
): Promise<CountedCollection | null> {
  const isSold = !(await areSalesLeftOut(client));
  const blocks = isSold ? await reads.lists.read(client, collection, tip, mayWalk) : [];
  const coverage = await reads.coverage.read(client, tip, mayWalk);
  const read = await reads.holders.read(client, collection, tip.height, mayWalk);
  if (blocks === null || coverage === null || read === 'walk') return null;
  const proven = provenAt(read, tip.height);
  const shown = {
    ...headView(collection),
    ...momentView(proven),
    items: itemsView(collection, proven.holders),
    holders: holdersKnown(collection, proven),
    sales: isSold ? await salesView(client, collection, blocks, coverage) : null,
  };
  return { shown, blocks, holders: proven.holders };
}

/**
 * The number of holders. `null` if no holder is known but there may be one, because a block has moved an item to an
 * unknown place or a missing block may reveal an item.
 */
export function holdersKnown(
  collection: FoundCollection,
  { holders, isAnchored }: ProvenHolders,
): number | null {
  const { count: known, unknown, indexed } = holders;
  const mayHaveMore = unknown > 0 || (!isAnchored && indexed < listedItems(collection));
  return known === 0 && mayHaveMore ? null : known;
}

/** Fields from the collection's own description. */
export function headView(collection: FoundCollection) {
  const { slug, kind, name, icon } = collection;
  const {
    description = null,
    website = null,
    twitter = null,
    discord = null,
  } = collection.kind === 'import' ? collection : {};
  return {
    slug,
    kind,
    name,
    icon: icon === null ? null : idText(icon),
    description,
    website,
    twitter,
    discord,
  };
}

/**
 * The sales of a collection. Sums are computed from data in memory, which has an entry for each block. The last sale is
 * read from the database.
 */
async function salesView(
  client: ClientBase,
  collection: FoundCollection,
  blocks: readonly SoldInBlock[],
  { from }: SaleCoverage,
): Promise<NonNullable<CollectionStats['sales']>> {
  const newest = pageOfSales(blocks, { since: null, order: 'desc', page: 0, limit: 1 });
  const [last] = await readCollectionSales(client, collection, newest);
  return {
    countedFrom: from,
    total: from === null ? null : sumsView(sumsOf(blocks)),
    last: last === undefined ? null : lastView(last),
    days: sumsByDay(blocks).map(({ day, ...sums }) => ({ day: dayText(day), ...sumsView(sums) })),
    pending: await pendingView(client, collection),
  };
}

/**
 * Pending sales. Their lowest price is the only floor price that a node can know, because listings are signatures that
 * only platforms have. `null` if no mempool is followed.
 */
async function pendingView(client: ClientBase, collection: FoundCollection) {
  const state = await mempoolState(client);
  if (state === null || !state.isFollowed) return null;
  const floor = await pendingFloor(client, collection);
  if (floor === null) return { floor };
  const { price, item, txid } = floor;
  return { floor: { price, inscriptionId: idText(item), txid: displayHash(txid) } };
}

function lastView(sale: CollectionSale) {
  return { inscriptionId: idText(sale.item.id), inscriptionName: sale.item.name, ...saleView(sale) };
}
