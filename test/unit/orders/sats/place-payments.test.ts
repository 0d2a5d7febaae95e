import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { placePayments } from '#orders/sats/place-payments.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const firstOf = (height: number): number => height * 5_000_000_000;
const book = new SatributeBook('mainnet');
const uncommon = [book.find('uncommon')!];
const block9 = [book.find('block9')!];
const paid = (...ranges: [start: number, size: number][]) => ({
  ranges: ranges.map(([start, size]): SatRange => ({ start, end: start + size })),
});

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, place) =>
    permutations(items.toSpliced(place, 1)).map((others) => [item, ...others]),
  );
}

describe('payments in the order that puts allowed sats below the inscriptions', () => {
  test('the one whose first sat is allowed comes first, wherever it was', () => {
    const common = paid([firstOf(7) + 5, 4000]);
    const special = paid([firstOf(7), 330]);
    const one = [0];
    expect(placePayments([common, special], uncommon, one)).toEqual([special, common]);
    expect(placePayments([common], uncommon, one)).toBeNull();
    expect(placePayments([], uncommon, one)).toBeNull();
  });

  test('a special sat in the middle of an output does not count', () => {
    const middle = paid([firstOf(7) - 1, 4000]);
    expect(placePayments([middle], uncommon, [0])).toBeNull();
    expect(placePayments([paid([9, 1], [firstOf(7), 50])], uncommon, [0])).toBeNull();
  });

  test('each of several inscriptions is on an allowed sat, also after the first payment', () => {
    const places = [0, 546, 1092];
    const short = paid([firstOf(9), 600]);
    const rest = paid([firstOf(9) + 10_000, 600]);
    const common = paid([firstOf(10), 600]);
    expect(placePayments([short, rest], block9, places)).toEqual([short, rest]);
    expect(placePayments([short, common], block9, places)).toBeNull();
    // 1,092 sats are exactly two postages, without a sat for the next one
    expect(placePayments([paid([firstOf(9), 1092])], block9, places)).toBeNull();
    expect(placePayments([paid([firstOf(9), 1093])], block9, places)).not.toBeNull();
  });

  test('special sats in outputs of the postage come one after the other, and payments for fees last', () => {
    const fees = paid([firstOf(7) + 5, 4000]);
    const specials = [8, 3, 6].map((height) => paid([firstOf(height), 546]));
    const [one, two, three] = specials as [typeof fees, typeof fees, typeof fees];
    expect(placePayments([one, fees, two, three], uncommon, [0, 546, 1092])).toEqual([one, two, three, fees]);
    expect(placePayments([one, fees, two], uncommon, [0, 546, 1092])).toBeNull();
    // only the last special payment may be larger than the postage
    const longer = paid([firstOf(4), 5000]);
    expect(placePayments([longer, fees, one, two], uncommon, [0, 546, 1092])).toEqual([
      one,
      two,
      longer,
      fees,
    ]);
  });

  test('20 payments that never fit are given up', () => {
    const payments = Array.from({ length: 20 }, (_, at) => paid([firstOf(at + 1), 500 + at]));
    const places = Array.from({ length: 12 }, (_, place) => place * 546);
    expect(placePayments(payments, uncommon, places)).toBeNull();
  });

  test('no payment is lost, and every sat is where a count of all sats says', () => {
    const range = fc
      .tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: 1, max: 9 }))
      .map(([from, size]): SatRange => ({ start: firstOf(9) + from, end: firstOf(9) + from + size }));
    const payment = fc.array(range, { minLength: 1, maxLength: 3 }).map((ranges) => ({ ranges }));
    fc.assert(
      fc.property(
        fc.array(payment, { maxLength: 4 }),
        fc
          .uniqueArray(fc.nat(20), { minLength: 1, maxLength: 4 })
          .map((all) => all.toSorted((a, b) => a - b)),
        (payments, places) => {
          const satsOf = (all: typeof payments): number[] =>
            all.flatMap(({ ranges }) =>
              ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, at) => start + at)),
            );
          const isAllowed = (all: typeof payments): boolean => {
            const sats = satsOf(all);
            return places
              .map((place) => sats[place])
              .every((sat) => sat !== undefined && sat >= firstOf(9) && sat < firstOf(10));
          };
          const placed = placePayments(payments, block9, places);
          expect(placed !== null).toBe(permutations(payments).some(isAllowed));
          if (placed === null) return;
          expect(isAllowed([...placed])).toBe(true);
          expect(new Set(placed)).toEqual(new Set(payments));
          expect(placed).toHaveLength(payments.length);
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });
});
