import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

interface PaidRanges {
  readonly ranges: readonly SatRange[];
}

/**
 * Maximum number of tries to put a payment at a position. If special sats arrive in outputs of the postage size, only
 * the payments for fees cause tries that fail. If no sequence fits, the maximum bounds the search through the sats,
 * because a payment may have 50,000 ranges.
 */
const triesMax = 2000;

/**
 * Sorts the payments so that each inscription is on a sat with one of the satributes. Payments with such sats come
 * first, then the other payments in their old sequence. Returns the first sequence that fits, or null if 2,000 tries
 * find none. Pure.
 *
 * @param payments payments, each with all its sats in the order of the output; at most 31 payments, because they are
 *   bits of a set
 * @param places positions of the inscriptions, ascending: the number of sats of the payments before each inscription
 */
export function placePayments<Paid extends PaidRanges>(
  payments: readonly Paid[],
  allowed: readonly Satribute[],
  places: readonly number[],
): readonly Paid[] | null {
  let tries = 0;
  /**
   * Sets of used payments after which no other payment fits. The order within a set does not matter, because the sum of
   * the sats is the same.
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

/**
 * Adds one payment. Returns null if an inscription would be on a sat of this payment that has none of the satributes.
 */
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
