import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { areSalesLeftOut, requireSales, salesOfItemIndex } from '#chain/sales/sale.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { holderParts, holderView, idText, nullable } from '#http/market/collection-views.ts';
import { MarketQuery, marketParameters } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type FoundCollection, isLongGallery } from '#market/collections/market-slug.store.ts';
import {
  type CollectionItemDetail,
  firstItems,
  itemsAfter,
  positionOfItem,
} from '#market/lists/collection-items.store.ts';
import {
  answerOfCollection,
  collectionConfig,
  collectionPath,
  count,
  lastSaleParts,
  saleView,
} from './collection-parts.ts';

const itemsAnswer = Type.Object({
  slug: Type.String(),
  height: count,
  items: Type.Array(
    Type.Object({
      inscriptionId: Type.String(),
      name: Type.String(),
      number: nullable(Type.Integer()),
      indexed: Type.Boolean({ description: 'false: an import names it, but no indexed block reveals it' }),
      satpoint: nullable(Type.String({ description: 'null: unknown' })),
      address: nullable(
        Type.String({ description: 'null: the item is in no output, or the script has no address' }),
      ),
      script: nullable(holderParts.script),
      lastSale: nullable(Type.Object(lastSaleParts, { description: 'null: no sale of the item is known' })),
    }),
  ),
  nextAfter: nullable(Type.String({ description: 'null: this is the last page' })),
});

/** Route of the items of a collection (docs/marketplace-api.md, "Items"). */
export function collectionItemsRoutes(app: App, { network }: AppDependencies, reads: SaleReads): void {
  const { limit: limitParameter, afterItem: after } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/collections/:slug/items',
    schema: {
      operationId: 'collectionItems',
      summary: 'The items of a collection, with the owner and last sale of each',
      description:
        'Items of an import are in the order of its list, other items in the order of their reveals.',
      tags: ['market'],
      params: collectionPath,
      querystring: Type.Object({ after, limit: limitParameter }),
      response: { 200: itemsAnswer },
    },
    config: collectionConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query, request.params);
      const slug = query.slugOfPath();
      const last = query.afterItem();
      const limit = query.limit();
      query.refuse();
      return answerOfCollection(reads, reply, slug, async (client, { collection, tip }, mayWalk) => {
        const page = await itemsPage(client, collection, { after: last, limit }, mayWalk);
        if (page === null) return null;
        return {
          slug: collection.slug,
          height: tip.height,
          items: page.items.map((item) => itemView(item, network)),
          nextAfter: page.nextAfter,
        };
      });
    },
  });
}

interface ItemsQuestion {
  /** The last item of the previous page. `null` for the first page. */
  readonly after: InscriptionId | null;
  readonly limit: number;
}

export interface ItemsPage {
  readonly items: readonly CollectionItemDetail[];
  readonly nextAfter: string | null;
}

/**
 * A page of items. `null` if it needs a full scan that is not allowed. Throws `request_invalid` for an unknown item.
 * Throws `index_missing` until the last sales of items can be looked up.
 */
export async function itemsPage(
  client: ClientBase,
  collection: FoundCollection,
  { after, limit }: ItemsQuestion,
  mayWalk: boolean,
): Promise<ItemsPage | null> {
  if (!mayWalk && isLongGallery(collection)) return null;
  const areSold = !(await areSalesLeftOut(client));
  if (areSold) {
    await requireSales(client);
    await requireIndexes(client, [salesOfItemIndex], 'sales by inscription');
  }
  const position = after === null ? firstItems : await positionOfItem(client, collection, after);
  if (position === null) throw notAnItem();
  const found = await itemsAfter(client, collection, { after: position, limit: limit + 1 }, areSold);
  const items = found.slice(0, limit);
  const end = items.at(-1);
  return { items, nextAfter: found.length > limit && end !== undefined ? idText(end.id) : null };
}

const notAnItem = (): InvalidRequest =>
  new InvalidRequest([{ message: 'after is not an item of this collection', parameter: 'after' }]);

function itemView(
  { id, name, number, isIndexed, location, lastSale }: CollectionItemDetail,
  network: NetworkParameters,
): Type.Static<typeof itemsAnswer>['items'][number] {
  const owner = location?.script == null ? null : holderView(location.script, network);
  return {
    inscriptionId: idText(id),
    name,
    number,
    indexed: isIndexed,
    satpoint: location?.satpoint ?? null,
    address: owner?.address ?? null,
    script: owner?.script ?? null,
    lastSale: lastSale === null ? null : saleView(lastSale),
  };
}
