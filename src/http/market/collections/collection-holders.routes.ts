import { Type } from 'typebox';
import { holderParts, holderView, nullable } from '#http/market/collection-views.ts';
import { MarketQuery, marketParameters } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { holdersIn, listedHoldersMax } from '#market/lists/item-holders.store.ts';
import {
  answerOfCollection,
  collectionConfig,
  collectionPath,
  count,
  itemsSchema,
  itemsView,
  momentParts,
  momentView,
  provenAt,
} from './collection-parts.ts';

const holdersAnswer = Type.Object({
  slug: Type.String(),
  ...momentParts,
  proven: Type.Boolean({
    description:
      'true: every relevant block up to this one is indexed, and no item is unknown, so any other index has the same list',
  }),
  items: itemsSchema,
  count: Type.Integer({ description: 'number of all holders' }),
  holders: Type.Array(
    Type.Object({
      ...holderParts,
      items: count,
      share: Type.Number({ minimum: 0, maximum: 1, description: 'share of the indexed items' }),
    }),
  ),
  nextPage: nullable(
    Type.Integer({
      description: `null: this is the last page; at most ${listedHoldersMax} holders are listed`,
    }),
  ),
});

/** Route of the holders of a collection (docs/marketplace-api.md, "Holders"). */
export function collectionHoldersRoutes(app: App, { network }: AppDependencies, reads: SaleReads): void {
  const { page: pageParameter, limit: limitParameter, at } = marketParameters;
  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/collections/:slug/holders',
    schema: {
      operationId: 'collectionHolders',
      summary: 'The holders of a collection’s items, now or after an earlier block, for proofs',
      description:
        'Holders of the most items come first. Send the height with at, so that all pages are of the same block.',
      tags: ['market'],
      params: collectionPath,
      querystring: Type.Object({ at, page: pageParameter, limit: limitParameter }),
      response: { 200: holdersAnswer },
    },
    config: collectionConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query, request.params);
      const slug = query.slugOfPath();
      const asked = query.at();
      const page = query.page();
      const limit = query.limit();
      query.refuse();
      return answerOfCollection(reads, reply, slug, async (client, { collection, tip }, mayWalk) => {
        const height = heightUpTo(tip, asked);
        const read = await reads.holders.read(client, collection, height, mayWalk);
        if (read === 'walk') return null;
        const proven = provenAt(read, height);
        const { holders } = proven;
        const part = holdersIn(holders.packed, page * limit, limit);
        const listed = Math.min(holders.count, listedHoldersMax);
        return {
          slug: collection.slug,
          ...momentView(proven),
          proven: proven.isAnchored && holders.unknown === 0,
          items: itemsView(collection, holders),
          count: holders.count,
          holders: part.map(({ script, items }) => ({
            ...holderView(script, network),
            items,
            share: items / holders.indexed,
          })),
          nextPage: (page + 1) * limit < listed ? page + 1 : null,
        };
      });
    },
  });
}

/**
 * Returns the requested height, or the tip's height if none is requested. Throws `request_invalid` if the height is
 * above the tip.
 */
function heightUpTo(tip: Tip, asked: Height | null): Height {
  if (asked === null) return tip.height;
  if (asked <= tip.height) return asked;
  throw new InvalidRequest([{ message: `at is above the last block, ${tip.height}`, parameter: 'at' }]);
}
