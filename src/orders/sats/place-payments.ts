import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatRange, Satribute } from '#kernel/satributes/satribute.ts';

/**
 * The order in which payments must be spent so that each inscription lies on a sat with one of the
 * satributes: one of them first, the others as they were. The first order that does is taken. Null: none does. Pure.
 *
 * @param payments each with all of its sats, in the order of the output
 * @param places of the inscriptions, ascending: how many sats of the payments come before each
 */
export function placePayments<Paid extends { readonly ranges: readonly SatRange[] }>(
  payments: readonly Paid[],
  allowed: readonly Satribute[],
  places: readonly number[],
): readonly Paid[] | null {
  for (const first of payments) {
    const placed = [first, ...payments.filter((payment) => payment !== first)];
    if (areAllowed(placed, allowed, places)) return placed;
  }
  return null;
}

function areAllowed(
  payments: readonly { readonly ranges: readonly SatRange[] }[],
  allowed: readonly Satribute[],
  places: readonly number[],
): boolean {
  let found = 0;
  let before = 0;
  for (const { start, end } of payments.flatMap(({ ranges }) => ranges)) {
    const after = before + end - start;
    for (; found < places.length; found++) {
      const place = places[found] ?? 0;
      if (place >= after) break;
      const sat = start + place - before;
      if (!allowed.some(({ rule }) => countWithin(rule, { start: sat, end: sat + 1 }) > 0)) return false;
    }
    before = after;
  }
  return found === places.length;
}
