import { Type } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { inventoryReads } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { inventoryTypes } from '#inventory/inventory-types.ts';
import { shownStanding } from './shown-standing.ts';

const integer = Type.Integer({ minimum: 0 });
const typeAnswer = Type.Object({
  amount: Type.Integer({ minimum: 0, description: 'sats of the type' }),
  baseFee: Type.Integer({ minimum: 0, description: 'price of an inscription on one, in sats' }),
  commonCount: Type.Integer({ minimum: 0, description: 'outputs that hold some' }),
  count: Type.Integer({ minimum: 0, description: 'how many can be ordered now' }),
  maxSize: integer,
  minSize: integer,
});

/** What the operator has of special sats, in the public interface's form (docs/inventory.md). */
export function inventoryRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/inventory',
    schema: {
      operationId: 'inventory',
      summary: 'Special sats that orders can name, by type',
      tags: ['sats'],
      response: { 200: Type.Object(Object.fromEntries(inventoryTypes.map((type) => [type, typeAnswer]))) },
    },
    config: { errors: 'serviceRead', guard: inventoryReads },
    handler: async (_request, reply) => {
      const standing = await shownStanding(deps, askerOf(reply).signal);
      reply.header('cache-control', 'no-cache');
      return standing;
    },
  });
}
