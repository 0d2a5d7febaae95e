import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countInList, listFrom, listWithin, rangeInList } from '#kernel/satributes/range-list.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const most = 200;
const range = fc
  .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: 12 }))
  .map(([start, length]): SatRange => ({ start, end: start + length }));
const ranges = fc.array(
  range.filter(({ start, end }) => start < end),
  { maxLength: 30 },
);
const satsOf = (given: Iterable<SatRange>): number[] =>
  [...given].flatMap(({ start, end }) => Array.from({ length: end - start }, (_, place) => start + place));

test('a list has each sat of its ranges once, ascending, with gaps between its ranges', () => {
  fc.assert(
    fc.property(ranges, (given) => {
      const list = listFrom(given);
      expect(satsOf(list)).toEqual([...new Set(satsOf(given))].sort((a, b) => a - b));
      for (const [place, { start, end }] of list.entries()) {
        expect(start).toBeLessThan(end);
        expect(start).toBeGreaterThan(list[place - 1]?.end ?? -1);
      }
    }),
    { numRuns: propertyRuns(200) },
  );
});

test('counting and finding in a list equal a walk over all its sats', () => {
  fc.assert(
    fc.property(ranges, range, fc.integer({ min: 0, max: most + 20 }), (given, within, sat) => {
      const list = listFrom(given);
      const expected = satsOf(list).filter((each) => within.start <= each && each < within.end);
      expect(countInList(list, within)).toBe(expected.length);
      expect(satsOf(listWithin(list, within))).toEqual(expected);
      expect(rangeInList(list, sat)).toEqual(
        list.find(({ start, end }) => start <= sat && sat < end) ?? null,
      );
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('a list of 200,000 ranges is asked a hundred thousand times within seconds', () => {
  const list = Array.from({ length: 200_000 }, (_, place) => ({ start: place * 10, end: place * 10 + 3 }));
  const startedAt = performance.now();
  let count = 0;
  for (let at = 0; at < 100_000; at++) count += countInList(list, { start: at * 20, end: at * 20 + 5 });
  expect(count).toBe(300_000);
  // one step for each entry of the list would take minutes
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
