import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

interface PaidRanges {
  readonly ranges: readonly SatRange[];
}

/**
 * How often a payment is tried at a place. Where special sats come in outputs of the postage, only those for fees are tried
 * in vain. Where nothing fits, this bounds the walk through their sats: a payment may have 50,000 ranges.
 */
const triesMax = 2000;

/**
 * The order in which payments must be spent so that each inscription lies on a sat with one of the satributes: those that
 * have such sats first, the others as they were. The first order that does is taken. Null: none does, or none was found
 * within 2,000 tries. Pure.
 *
 * @param payments each with all of its sats, in the order of the output; 31 at most, as they are bits of a set
 * @param places of the inscriptions, ascending: how many sats of the payments come before each
 */
export function placePayments<Paid extends PaidRanges>(
  payments: readonly Paid[],
  allowed: readonly Satribute[],
  places: readonly number[],
): readonly Paid[] | null {
  let tries = 0;
  /** Sets of payments after which nothing fits: in whichever order they are spent, as many sats come before the next. */
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

/** How many sats are spent so far, and how many inscriptions lie on them. */
interface Reached {
  readonly sats: number;
  readonly found: number;
}

/** With one payment more. Null: an inscription would lie on a sat of it that is not allowed. */
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
