import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countBits, eachBit } from '#search/postgres/id-set.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

test('bitmaps of any length and place in memory give each of their bits once, ascending', () => {
  const bytes = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 255 })), { maxLength: 70 });
  fc.assert(
    fc.property(bytes, fc.nat({ max: 8 }), (values, place) => {
      const bits = new Uint8Array(place + values.length).subarray(place);
      bits.set(values);
      const found: number[] = [];
      eachBit(bits, (index) => found.push(index));
      const expected = values.flatMap((byte, at) =>
        [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte >>> bit) & 1).map((bit) => at * 8 + bit),
      );
      expect(found).toEqual(expected);
      expect(countBits(bits)).toBe(expected.length);
    }),
    { numRuns: propertyRuns(100) },
  );
});
