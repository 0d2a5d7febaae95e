import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstDifference, firstLineDifference } from '#src/app/doctor/comparing/first-difference.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

test('halving finds the first height that differs, with few questions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1_000_000),
      fc.nat(1_000_000),
      fc.nat(1_000_000),
      async (low, length, distance) => {
        const high = low + length;
        const first = low + distance;
        const asked: number[] = [];
        const found = await firstDifference(low, high, async (height) => {
          asked.push(height);
          return height >= first;
        });
        expect(found).toBe(first <= high ? first : null);
        expect(new Set(asked).size).toBe(asked.length);
        expect(asked.length).toBeLessThanOrEqual(Math.ceil(Math.log2(length + 1)) + 2);
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});

test('the first line that is not the same is named, also where a text ends before it', () => {
  expect(firstLineDifference('a\nb\n', 'a\nb\n')).toBeNull();
  expect(firstLineDifference('a\nb\n', 'a\nc\n')).toEqual({ line: 2, here: 'b', there: 'c' });
  expect(firstLineDifference('a\n', 'a\nb')).toEqual({ line: 2, here: '', there: 'b' });
  expect(firstLineDifference('a', 'a\nb')).toEqual({ line: 2, here: null, there: 'b' });
});
