import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type Allocation, readAllocations } from '#collections/collection/phases.store.ts';
import { readAllocationRequest } from '#collections/reading/read-allocation-request.ts';
import { unlessFaulty } from '#http/orders/refuse-faults.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { collectionReads } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { completedAmong } from '#orders/collections/delivered-items.queries.ts';
import { allocationAnswer, allocationBody } from './collection.schemas.ts';
import { flagOf } from './collection-answers.ts';

/** Route that returns how many items of a collection an address may buy (docs/collections.md). */
export function allocationRoutes(app: App, { pool, network }: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/getallocation',
    schema: {
      operationId: 'collectionAllocation',
      summary: 'The number of items that an address may buy in each phase of a collection',
      tags: ['collections'],
      body: allocationBody,
      response: { 200: allocationAnswer },
    },
    config: { errors: 'orderWrite', guard: collectionReads },
    handler: async (request, reply) => {
      const { id, script } = unlessFaulty(readAllocationRequest(request.body, network));
      reply.header('cache-control', 'no-store');
      return withSnapshot(
        pool,
        async ({ client }) => {
          const found = await readAllocations(client, id, script);
          if (found === null) throw new AppError('not_found', `no such collection ${id}`);
          const orderIds = found.flatMap(({ orders }) => orders.map(({ orderId }) => orderId));
          const completed = await completedAmong(client, orderIds);
          return { phases: found.map((allocation) => shownAllocation(allocation, completed)) };
        },
        askerOf(reply).signal,
      );
    },
  });
}

const shownAllocation = (
  { phase, isPublic, isListed, items, paid, orders }: Allocation,
  completed: ReadonlySet<string>,
) => ({
  phaseId: phase,
  public: flagOf(isPublic),
  allocation: isPublic || (isListed && items === null) ? -1 : (items ?? 0),
  inscribedCount: orders.reduce((sum, order) => sum + (completed.has(order.orderId) ? order.items : 0), 0),
  paidItemCount: paid,
});
