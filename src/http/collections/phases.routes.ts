import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type Collection, readAverageBytes } from '#collections/collection/collection.store.ts';
import type { UpdatedPhases } from '#collections/collection/update-phases.ts';
import { readPhasesRequest } from '#collections/reading/read-phases-request.ts';
import { unlessFaulty } from '#http/orders/refuse-faults.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { changesCollections } from '#http/server/access/guard.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { Pauses } from '#kernel/concurrency/work-in-steps.ts';
import type { AskingKey } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { countDeliveredItems } from '#orders/collections/delivered-items.queries.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { phasesBody, shownCollection } from './collection.schemas.ts';
import { collectionAnswer } from './collection-answers.ts';

/** Routes that change phases. They need the creator's key or an operator's key (docs/collections.md). */
export function collectionPhasesRoutes(app: App, deps: AppDependencies): void {
  const { pool, network, prices: { collectionServiceFee: serviceFee } = defaultPriceSettings } = deps;
  apiRoute(app, {
    method: 'POST',
    url: '/updatecollectionphases',
    bodyLimit: bodyLimits.collection,
    schema: {
      operationId: 'updateCollectionPhases',
      summary: 'Replaces the phases of a collection and their lists of addresses',
      tags: ['collections'],
      body: phasesBody,
      response: { 200: shownCollection },
    },
    config: { errors: 'orderWrite', guard: changesCollections, failures: [403, 503] },
    handler: async (request, reply) => {
      const { collections = null } = deps;
      if (collections === null) throw new AppError('orders_off', 'this service sells no collections');
      reply.header('cache-control', 'no-store');
      const asker = askerOf(reply);
      const { id, phases } = unlessFaulty(
        await new Pauses(asker).run(readPhasesRequest(request.body, network)),
      );
      const mayChange = (collection: Collection): boolean => isItsCreator(asker.key, collection);
      const updated = unlessRefused(await collections.updatePhases({ id, phases, mayChange }), id);
      const counted = await withSnapshot(
        pool,
        async ({ client }) => ({
          inscribed: await countDeliveredItems(client, id),
          averageBytes: await readAverageBytes(client, id),
        }),
        asker.signal,
      );
      return collectionAnswer(updated.collection, { ...counted, phases: updated.phases, serviceFee });
    },
  });
}

/**
 * Whether a key may change a collection. It must be the creator's key, or a key of an operator (scope `admin`). If a
 * collection has no creator's key, only an operator can change it.
 */
const isItsCreator = (key: AskingKey, { keyHash }: Collection): boolean =>
  key.kind === 'known' && (key.scopes.includes('admin') || key.hash === keyHash?.toString('hex'));

function unlessRefused(updated: UpdatedPhases, id: string): Extract<UpdatedPhases, { kind: 'updated' }> {
  if (updated.kind === 'unknown') throw new AppError('not_found', `no such collection ${id}`);
  if (updated.kind === 'foreign')
    throw new AppError(
      'key_scope',
      `the collection ${id} can only be changed with the key of its creator, or with a key that has the scope admin`,
    );
  return unlessFaulty(updated);
}
