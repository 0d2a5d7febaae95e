import type pg from 'pg';
import { Type } from 'typebox';
import { knowsSatRanges } from '#chain/derived/known-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { inventoryReads } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Inventory } from '#inventory/inventory.ts';
import { type InventoryStanding, soldOut, standingOf } from '#inventory/inventory-standing.ts';
import { defaultBaseFees, inventoryTypes } from '#inventory/inventory-types.ts';

const integer = Type.Integer({ minimum: 0 });
const typeAnswer = Type.Object({
  amount: Type.Integer({ minimum: 0, description: 'sats of the type' }),
  baseFee: Type.Integer({ minimum: 0, description: 'price of an inscription on such a sat, in sats' }),
  commonCount: Type.Integer({ minimum: 0, description: 'outputs that contain such sats' }),
  count: Type.Integer({ minimum: 0, description: 'number of sats that can be ordered now' }),
  maxSize: integer,
  minSize: integer,
});

/** Route of the operator's special sats, in the public interface's form (docs/inventory.md). */
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

/**
 * Stock of each type that can be ordered. Without an index of sats no type can be ordered, because orders are refused.
 */
async function shownStanding(
  { inventory = null, pool }: { readonly inventory?: Inventory | null; readonly pool: pg.Pool },
  signal: AbortSignal,
): Promise<InventoryStanding> {
  if (inventory === null) return standingOf([], defaultBaseFees);
  const isOrderable = await withSnapshot(pool, ({ client }) => knowsSatRanges(client), signal);
  const standing = await inventory.standing();
  return isOrderable ? standing : soldOut(standing);
}
