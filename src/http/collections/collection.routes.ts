import { Type } from 'typebox';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import {
  type Collection,
  readAverageBytes,
  readCollection,
} from '#collections/collection/collection.store.ts';
import { readListedPhases } from '#collections/collection/phases.store.ts';
import { isCollectionSlug } from '#collections/reading/read-collection.ts';
import { refuseFaults } from '#http/orders/refuse-faults.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { collectionReads } from '#http/server/access/guard.ts';
import { sendJsonInTurns } from '#http/server/budgets/json-in-turns.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { countDeliveredItems, readDeliveredItems } from '#orders/collections/delivered-items.queries.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { collectionItems, shownCollection } from './collection.schemas.ts';
import { collectionAnswer, itemAnswer } from './collection-answers.ts';

const slug = Type.Optional(Type.String({ maxLength: 200, description: 'slug of the collection; required' }));

/** Routes of collections that an operator approved, in the form that everyone may see (docs/collections.md). */
export function collectionRoutes(app: App, deps: AppDependencies): void {
  const { pool, prices: { collectionServiceFee: serviceFee } = defaultPriceSettings } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/collection',
    schema: {
      operationId: 'soldCollection',
      summary: 'A collection for sale, with its phases',
      tags: ['collections'],
      querystring: Type.Object({ id: slug }),
      response: { 200: shownCollection },
    },
    config: { errors: 'serviceRead', guard: collectionReads },
    handler: async (request, reply) => {
      const answer = await withSnapshot(
        pool,
        async ({ client }) => {
          const collection = await soldCollection(client, givenId(request.query.id));
          const phases = await readListedPhases(client, collection.id);
          const inscribed = await countDeliveredItems(client, collection.id);
          const averageBytes = await readAverageBytes(client, collection.id);
          return collectionAnswer(collection, { phases, inscribed, averageBytes, serviceFee });
        },
        askerOf(reply).signal,
      );
      reply.header('cache-control', 'no-cache');
      return answer;
    },
  });
  apiRoute(app, {
    method: 'GET',
    url: '/get-collection-json',
    schema: {
      operationId: 'soldCollectionItems',
      summary: 'The delivered items of a collection, in the form that marketplaces import',
      tags: ['collections'],
      querystring: Type.Object({
        id: slug,
        onchainFormat: Type.Optional(
          Type.Boolean({ description: 'attributes as a list of trait_type and value' }),
        ),
      }),
      response: { 200: collectionItems },
    },
    config: { errors: 'serviceRead', guard: collectionReads },
    handler: async (request, reply) => {
      const { onchainFormat = false } = request.query;
      const id = givenId(request.query.id);
      const items = await withSnapshot(
        pool,
        async ({ client }) => {
          const { name } = await soldCollection(client, id);
          const delivered = await readDeliveredItems(client, id);
          return delivered.map((item) => itemAnswer(name, item, onchainFormat));
        },
        askerOf(reply).signal,
      );
      reply.header('cache-control', 'no-cache');
      return sendJsonInTurns(reply, items) as never;
    },
  });
}

/** Returns the id in a query. Throws `request_invalid` if it is missing. */
function givenId(id = ''): string {
  if (id === '') throw refuseFaults([{ message: 'id is required.', parameter: 'id' }]);
  return id;
}

/**
 * Returns a collection for sale. Throws `not_found` if there is none. A collection that no operator has approved yet is
 * secret, so it throws the same error.
 */
async function soldCollection(client: Snapshot['client'], id: string): Promise<Collection> {
  const collection = isCollectionSlug(id) ? await readCollection(client, id) : null;
  if (collection?.state === 'approved' || collection?.state === 'closed') return collection;
  throw new AppError('not_found', `no such collection ${id}`);
}
