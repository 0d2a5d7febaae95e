import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addKeys,
  allOf,
  countOf,
  countRange,
  keepRange,
  noneOf,
  type PartMatches,
  takeKeys,
} from '#search/postgres/key-matches.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const parts = fc
  .tuple(fc.nat({ max: 20 }), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }))
  .map(([first, sizes]) => {
    let firstKey = first;
    return sizes.map((size, at) => {
      const part = { firstKey, nextKey: firstKey + size, segmentId: at };
      firstKey = part.nextKey;
      return part;
    });
  });
const key = fc.nat({ max: 240 });

const keysOf = (matches: readonly PartMatches[]): number[] => takeKeys(matches, false, 0, 1e6);

describe('matching keys, part by part', () => {
  test('are kept, counted and cut as a list of them', () => {
    fc.assert(
      fc.property(parts, fc.array(key), key, key, fc.nat({ max: 50 }), (all, given, first, next, skip) => {
        const [from, to] = [all[0]!.firstKey, all.at(-1)!.nextKey];
        const keys = [...new Set(given)].filter((one) => one >= from && one < to).toSorted((a, b) => a - b);
        const matches = all.map(noneOf);
        addKeys(matches, given);
        expect(keysOf(matches)).toEqual(keys);
        expect(countOf(matches)).toBe(keys.length);
        const between = keys.filter((one) => one >= first && one < next);
        expect(countRange(matches, first, next)).toBe(between.length);
        expect(countRange(matches, first, Infinity)).toBe(keys.filter((one) => one >= first).length);
        expect(takeKeys(matches, false, skip, 7)).toEqual(keys.slice(skip, skip + 7));
        expect(takeKeys(matches, true, skip, 7)).toEqual(keys.toReversed().slice(skip, skip + 7));
        for (const one of matches) keepRange(one, first, next);
        expect(keysOf(matches)).toEqual(between);
        const whole = all.map(allOf);
        expect(countOf(whole)).toBe(to - from);
        for (const one of whole) keepRange(one, first, next);
        expect(keysOf(whole)).toEqual(
          Array.from({ length: to }, (_, at) => at).filter(
            (one) => one >= Math.max(from, first) && one < next,
          ),
        );
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});
