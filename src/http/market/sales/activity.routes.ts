import { Type } from 'typebox';
import { MarketQuery, marketParameters } from '#http/market/market-query.ts';
import { marketTime, thumbnailUrl } from '#http/market/market-views.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { marketReads } from '#http/server/access/guard.ts';
import { originOf } from '#http/server/headers/request-origin.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { ownerText } from '#kernel/bitcoin/stored-owner.ts';
import { daySeconds } from '#kernel/primitives/day.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { FoundCollection } from '#market/collections/market-slug.store.ts';
import { type CollectionSale, readCollectionSales } from '#market/sales/collection-sales.store.ts';
import { type ActivityQuestion, pageOfSales } from '#market/sales/sale-places.ts';

const sevenDaysSeconds = 7 * daySeconds;

const activitySchema = Type.Object({
  inscription_id: Type.String(),
  inscription_name: Type.String({
    description: 'name in the collection, else the collection’s name and the place in it, else its number',
  }),
  maker_address: Type.String({
    description:
      'seller: an address; for a script without one its hex, or sha256: and its hash if it is longer than 128 bytes',
  }),
  taker_address: Type.Union([Type.String(), Type.Null()], {
    description: 'buyer; null: the inscription went into the fee',
  }),
  collection_slug: Type.String({ description: 'the requested slug' }),
  collection_name: Type.String(),
  price: Type.Integer({ minimum: 0, description: 'sats' }),
  trade_timestamp: Type.String({
    description: 'time of the block, in UTC, without a zone: 2025-05-23T12:04:39.000000',
  }),
  transaction_id: Type.String(),
  thumbnail_url: Type.String(),
});

type ActivityView = Type.Static<typeof activitySchema>;

/** Routes of a collection's sales. They are the marketplace data of the public interface (docs/marketplace-api.md). */
export function activityRoutes(app: App, deps: AppDependencies, reads: SaleReads): void {
  const { network, publicOrigin = null } = deps;
  const {
    slug: slugParameter,
    startDate,
    page: pageParameter,
    limit: limitParameter,
    order,
  } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/collections/activity',
    schema: {
      operationId: 'collectionActivity',
      summary: 'The sales of a collection, newest first',
      description:
        'Version 0.0.1 of the marketplace interface. An unknown slug and a page beyond the last have no sales.',
      tags: ['market'],
      querystring: Type.Object({
        slug: slugParameter,
        startDate,
        page: pageParameter,
        limit: limitParameter,
        order,
      }),
      response: { 200: Type.Array(activitySchema) },
    },
    config: { errors: 'marketplace', guard: marketReads, isDear: true },
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query);
      const slug = query.slug();
      const since = query.startDate();
      const question: Omit<ActivityQuestion, 'since'> = {
        page: query.page(),
        limit: query.limit(),
        order: query.order(),
      };
      query.refuse();
      // do not cache, because the current time decides which days are the last, and imports change between two blocks
      reply.header('cache-control', 'no-store');
      const asked = {
        ...question,
        since: since ?? Math.ceil(Date.now() / 1000) - sevenDaysSeconds,
      };
      const origin = originOf(request, publicOrigin);
      return reads.read(slug, askerOf(reply), async (sales, { client, tip }) => {
        if (tip !== null) reply.header('x-indexed-height', tip.height);
        if (sales === null) return [];
        const { collection, blocks } = sales;
        const page = await readCollectionSales(client, collection, pageOfSales(blocks, asked));
        return page.map((sale) => activityView(sale, collection, network, origin));
      });
    },
  });
}

function activityView(
  { item, maker, taker, price, time, txid }: CollectionSale,
  { slug, name }: FoundCollection,
  network: NetworkParameters,
  origin: string,
): ActivityView {
  return {
    inscription_id: formatInscriptionId(item.id.txid, item.id.index),
    inscription_name: item.name,
    maker_address: ownerText(maker, network),
    taker_address: taker === null ? null : ownerText(taker, network),
    collection_slug: slug,
    collection_name: name,
    price,
    trade_timestamp: marketTime(time),
    transaction_id: displayHash(txid),
    thumbnail_url: thumbnailUrl(origin, item.id),
  };
}
