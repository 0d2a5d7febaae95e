import { deepBlocks, type OutputStanding } from '#chain/sats/output-standing.queries.ts';
import { rangesFrom } from '#kernel/satributes/ranges-from.ts';
import type { Reservation } from './reservations.store.ts';

/**
 * Where the sat is that an order has reserved. `here`: unspent, or spent by the order's own reveal. `away`: a
 * reorganisation took its output out of the chain, which may come back, or the index does not know. `gone`: the order
 * cannot have it.
 */
export type StockStanding = 'here' | 'away' | 'gone';

/** Standing of all sats of an order together: a delivery needs each of them. Pure. */
export const standingOfAll = (standings: readonly StockStanding[]): StockStanding =>
  standings.find((standing) => standing === 'gone') ??
  standings.find((standing) => standing === 'away') ??
  'here';

/** Why nothing is inscribed on a sat of the inventory that was reserved. */
export const stockGone =
  'The sat of the inventory that the order had is not there any more: its output was spent, or a reorganisation took it back.';

/**
 * Whether a reserved sat is gone for good, as far as reorganisations are expected: what spent its output, which is not the
 * reveal of the order, is followed by blocks. Pure.
 */
export const isLost = (reservation: Parameters<typeof stockStanding>[0], standing: OutputStanding): boolean =>
  !reservation.isReleased &&
  standing.ranges === null &&
  standing.isSpentDeep &&
  stockStanding(reservation, standing) === 'gone';

/** Pure. */
export function stockStanding(
  { sat, place, height, isReleased }: Pick<Reservation, 'sat' | 'place' | 'height' | 'isReleased'>,
  { tip, hasSats, isRevealed, hasBlock, ranges }: OutputStanding,
): StockStanding {
  if (isRevealed) return 'here';
  if (isReleased) return 'gone';
  // of nothing that is unknown a customer is paid back
  if (!hasSats) return 'away';
  if (ranges !== null) return rangesFrom(ranges, place, 1)[0]?.start === sat ? 'here' : 'gone';
  // it is still part of the chain, so a stranger to this order spent what it made
  if (hasBlock) return 'gone';
  return tip === null || tip < height + deepBlocks ? 'away' : 'gone';
}
