import { Type } from 'typebox';
import { requireSales } from '#chain/sales/sale.queries.ts';
import { collectionConfig, foundCollection } from '#http/market/collections/collection-parts.ts';
import { MarketQuery, marketPath } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { ownerText } from '#kernel/bitcoin/stored-owner.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type CollectionSale, readCollectionSales } from '#market/sales/collection-sales.store.ts';
import { pageOfSales } from '#market/sales/sale-places.ts';
import type { FeedEntry } from '#web/feeds/atom.ts';
import { grouped } from '#web/format.ts';
import { feedAnswer, feedEntries, feedId, sendFeed } from './send-feed.ts';

/** Route of `/collection/<slug>.atom`, a feed of the latest sales of a collection of the market. */
export function collectionFeedRoutes(app: App, deps: AppDependencies, reads: SaleReads): void {
  const { network, publicOrigin = null } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/collection/:slug.atom',
    schema: {
      operationId: 'collectionFeed',
      summary: 'The latest sales of a collection as an Atom feed',
      tags: ['feeds'],
      params: Type.Object({ slug: marketPath.slug }),
      response: { 200: feedAnswer, 304: unchanged },
    },
    // if a slug contains a dot, the request may match this path or the page of the collection, so both have the same
    // error form
    config: { ...collectionConfig, errors: 'ownPage' },
    handler: async (request, reply) => {
      const query = new MarketQuery({}, request.params);
      const slug = query.slugOfPath();
      query.refuse();
      const { collection, sales } = await reads.run(askerOf(reply), async ({ client, tip }, mayWalk) => {
        await requireSales(client);
        const now = await foundCollection(client, slug, tip);
        const blocks = await reads.lists.read(client, now.collection, now.tip, mayWalk);
        if (blocks === null) return null;
        const places = pageOfSales(blocks, { since: null, order: 'desc', page: 0, limit: feedEntries });
        const found = await readCollectionSales(client, now.collection, places);
        return { value: { collection: now.collection, sales: found } };
      });
      const entryOf = ({
        item,
        price,
        time,
        txid,
        txIndex,
        input,
        place,
        maker,
        taker,
        isWash,
      }: CollectionSale): FeedEntry => ({
        id: feedId(network.name, 'sale', displayHash(txid), `${txIndex}.${input}.${place}`),
        title: `${item.name}: ${grouped(price)} sats${isWash ? ' (wash trade)' : ''}`,
        href: `/sale/${displayHash(txid)}`,
        updated: time,
        summary: `Sold by ${ownerText(maker, network)} to ${taker === null ? 'a miner, in the fee' : ownerText(taker, network)} in transaction ${displayHash(txid)}`,
      });
      return sendFeed(request, reply, publicOrigin, {
        id: feedId(network.name, 'collection', collection.slug),
        title: `Sales of ${collection.name}`,
        page: `/collection/${encodeURIComponent(collection.slug)}`,
        entries: sales.map(entryOf),
      });
    },
  });
}
