import type pg from 'pg';
import { knowsSatRanges } from '#chain/sats/known-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Inventory } from '#inventory/inventory.ts';
import { type InventoryStanding, soldOut, standingOf } from '#inventory/inventory-standing.ts';
import { defaultBaseFees } from '#inventory/inventory-types.ts';

/** What can be ordered of each type: without an index of sats orders are refused, so nothing is. */
export async function shownStanding(
  { inventory = null, pool }: { readonly inventory?: Inventory | null; readonly pool: pg.Pool },
  signal: AbortSignal,
): Promise<InventoryStanding> {
  if (inventory === null) return standingOf([], defaultBaseFees);
  const isOrderable = await withSnapshot(pool, ({ client }) => knowsSatRanges(client), signal);
  const standing = await inventory.standing();
  return isOrderable ? standing : soldOut(standing);
}
