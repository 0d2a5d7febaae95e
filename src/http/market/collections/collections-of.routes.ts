import { strict as assert } from 'node:assert';
import { Type } from 'typebox';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { idText, kindOfCollection } from '#http/market/collection-views.ts';
import { MarketQuery, marketPath } from '#http/market/market-query.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { collectionsOf } from '#market/lists/collections-of.store.ts';
import { collectionConfig } from './collection-parts.ts';

const ofAnswer = Type.Object({
  inscriptionId: Type.String(),
  collections: Type.Array(Type.Object({ slug: Type.String(), kind: kindOfCollection, name: Type.String() })),
});

/** Route of an inscription's collections (docs/marketplace-api.md, "Collections of an inscription"). */
export function collectionsOfRoutes(app: App, { pool }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/collections/of/:inscription',
    schema: {
      operationId: 'collectionsOfInscription',
      summary: 'The collections that contain an inscription: imports, parents, galleries, in this order',
      description:
        'At most 100 of each kind. The first one is the slug of its sales in /marketplace/data/sales.',
      tags: ['market'],
      params: Type.Object({ inscription: marketPath.inscription }),
      response: { 200: ofAnswer },
    },
    config: collectionConfig,
    handler: async (request, reply) => {
      const query = new MarketQuery(request.query, request.params);
      const id = query.inscriptionOfPath();
      query.refuse();
      assert(id !== null, 'a wrong id is refused');
      reply.header('cache-control', 'no-store');
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          if (tip !== null) reply.header('x-indexed-height', tip.height);
          return { inscriptionId: idText(id), collections: await collectionsOf(client, id) };
        },
        askerOf(reply).signal,
      );
    },
  });
}
