import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

interface PaidRanges {
  readonly ranges: readonly SatRange[];
}

/**
 * Maximum number of tries to put a payment at a position. If special sats arrive in outputs of the postage, only
 * payments for fees are tried in vain. If nothing fits, the maximum bounds the walk through the sats, because a payment
 * may have 50,000 ranges.
 */
const triesMax = 2000;

/**
 * The order in which payments must be spent so that each inscription is on a sat with one of the satributes: payments
 * with such sats first, then the others in their old order. The first solution is taken. Returns null if 2,000 tries
 * find no solution. Pure.
 *
 * @param payments each with all its sats, in the order of the output; at most 31, because they are bits of a set
 * @param places positions of the inscriptions, ascending: the number of sats of the payments before each
 */
export function placePayments<Paid extends PaidRanges>(
  payments: readonly Paid[],
  allowed: readonly Satribute[],
  places: readonly number[],
): readonly Paid[] | null {
  let tries = 0;
  /**
   * Sets of payments after which nothing fits. The order within a set does not matter, because the sum of the sats is
   * the same.
   */
  const dead = new Set<number>();
  const placed = (
    before: readonly Paid[],
    used: number,
    { sats, found }: Reached,
  ): readonly Paid[] | null => {
    if (found === places.length) return [...before, ...payments.filter((_, at) => !isUsed(used, at))];
    if (dead.has(used)) return null;
    for (const [at, payment] of payments.entries()) {
      if (isUsed(used, at)) continue;
      if (tries === triesMax) return null;
      tries++;
      const reached = reachedBy(payment, allowed, places, { sats, found });
      const all = reached === null ? null : placed([...before, payment], used | (1 << at), reached);
      if (all !== null) return all;
    }
    dead.add(used);
    return null;
  };
  return placed([], 0, { sats: 0, found: 0 });
}

const isUsed = (used: number, at: number): boolean => (used & (1 << at)) !== 0;

/** Number of sats spent so far, and number of inscriptions on them. */
interface Reached {
  readonly sats: number;
  readonly found: number;
}

/** Adds one payment. Returns null if an inscription would be on a sat of this payment that is not allowed. */
function reachedBy(
  { ranges }: PaidRanges,
  allowed: readonly Satribute[],
  places: readonly number[],
  { sats, found }: Reached,
): Reached | null {
  let before = sats;
  let next = found;
  for (const { start, end } of ranges) {
    const after = before + end - start;
    for (; next < places.length; next++) {
      const place = places[next] ?? 0;
      if (place >= after) break;
      const sat = start + place - before;
      if (!allowed.some(({ rule }) => countWithin(rule, { start: sat, end: sat + 1 }) > 0)) return null;
    }
    before = after;
  }
  return { sats: before, found: next };
}
