import { deepBlocks, type OutputStanding } from '#chain/sats/output-standing.queries.ts';
import { rangesFrom } from '#kernel/satributes/ranges-from.ts';
import type { Reservation } from './reservations.store.ts';

/**
 * State of a sat that an order has reserved. `here`: unspent, or spent by the order's own reveal. `away`: a
 * reorganisation removed its output from the chain, which may come back, or the index does not know. `gone`: the order
 * cannot have it.
 */
export type StockStanding = 'here' | 'away' | 'gone';

/** Combined state of all sats of an order. A delivery needs every one of them. Pure. */
export const standingOfAll = (standings: readonly StockStanding[]): StockStanding =>
  standings.find((standing) => standing === 'gone') ??
  standings.find((standing) => standing === 'away') ??
  'here';

/** The reason why nothing is inscribed on a reserved inventory sat. */
export const stockGone =
  'The sat of the inventory that the order had is no longer there: its output was spent, or a reorganisation took it back.';

/**
 * Whether a reserved sat is gone for good: a transaction that is not the order's reveal has spent its output, deeper
 * than reorganisations are expected. Pure.
 */
export const isLost = (reservation: Parameters<typeof stockStanding>[0], standing: OutputStanding): boolean =>
  !reservation.isReleased &&
  standing.ranges === null &&
  standing.isSpentDeep &&
  stockStanding(reservation, standing) === 'gone';

/** State of one sat. Pure. */
export function stockStanding(
  { sat, place, height, isReleased }: Pick<Reservation, 'sat' | 'place' | 'height' | 'isReleased'>,
  { tip, hasSats, isRevealed, hasBlock, ranges }: OutputStanding,
): StockStanding {
  if (isRevealed) return 'here';
  if (isReleased) return 'gone';
  // `away`, because no refund is made while the sats are unknown
  if (!hasSats) return 'away';
  if (ranges !== null) return rangesFrom(ranges, place, 1)[0]?.start === sat ? 'here' : 'gone';
  // the block of the output is still in the chain, so a transaction outside this order has spent it
  if (hasBlock) return 'gone';
  return tip === null || tip < height + deepBlocks ? 'away' : 'gone';
}
