import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatRange, Satribute } from '#kernel/satributes/satribute.ts';

/** Where inscriptions lie in what a reveal spends: one at the beginning, the others a postage apart. */
export interface InscribedPlaces {
  readonly count: number;
  /** Sats. */
  readonly postage: number;
}

/**
 * The order in which a reveal must spend payments so that each of its inscriptions lies on a sat with one of the
 * satributes: one of them first, the others as they were. The first order that does is taken. Null: none does. Pure.
 *
 * @param payments each with all of its sats, in the order of the output
 */
export function placePayments<Paid extends { readonly ranges: readonly SatRange[] }>(
  payments: readonly Paid[],
  allowed: readonly Satribute[],
  places: InscribedPlaces,
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
  { count, postage }: InscribedPlaces,
): boolean {
  let place = 0;
  let before = 0;
  for (const { start, end } of payments.flatMap(({ ranges }) => ranges)) {
    for (; place < count && place * postage < before + end - start; place++) {
      const sat = start + place * postage - before;
      if (!allowed.some(({ rule }) => countWithin(rule, { start: sat, end: sat + 1 }) > 0)) return false;
    }
    before += end - start;
  }
  return place === count;
}
