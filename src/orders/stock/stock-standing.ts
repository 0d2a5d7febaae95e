import { deepBlocks, type OutputStanding } from '#chain/sats/output-standing.queries.ts';
import { rangesFrom } from '#kernel/satributes/ranges-from.ts';
import type { Reservation } from './reservations.store.ts';

/**
 * State of a sat that an order has reserved:
 *
 * - `here`: the sat's output is unspent, or the order's own reveal has spent it.
 * - `away`: a reorganisation removed the output from the chain and may bring it back, or the index does not know the
 *   sat.
 * - `gone`: the order cannot have the sat.
 */
export type StockStanding = 'here' | 'away' | 'gone';

/** Combined state of all sats of an order. A delivery needs all of them. Pure. */
export const standingOfAll = (standings: readonly StockStanding[]): StockStanding =>
  standings.find((standing) => standing === 'gone') ??
  standings.find((standing) => standing === 'away') ??
  'here';

/** The reason why nothing is inscribed on a reserved inventory sat. */
export const stockGone =
  'The sat of the inventory that was reserved for the order is no longer there, because its output was spent, or a reorganisation removed the output.';

/**
 * Whether a reserved sat is lost for good. A transaction other than the order's reveal has spent its output, in a block
 * deeper than reorganisations are expected. Pure.
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
  // the state is `away`, because no refund may be made while the sats are unknown
  if (!hasSats) return 'away';
  if (ranges !== null) return rangesFrom(ranges, place, 1)[0]?.start === sat ? 'here' : 'gone';
  // the block of the output is still in the chain, so a transaction that does not belong to this order has spent the
  // output
  if (hasBlock) return 'gone';
  return tip === null || tip < height + deepBlocks ? 'away' : 'gone';
}
