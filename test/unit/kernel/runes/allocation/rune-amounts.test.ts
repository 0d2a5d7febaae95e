import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuneAmounts } from '#kernel/runes/allocation/rune-amounts.ts';
import { smallU128, sumU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const step = fc.record({ key: fc.integer({ min: -3, max: 25 }), amount: fc.nat(), isSet: fc.boolean() });

test('amounts of few and of many runes are those of a map, also in reused memory', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 60 }), { maxLength: 5 }), (rounds) => {
      const amounts = new RuneAmounts();
      for (const steps of rounds) {
        amounts.clear();
        const map = new Map<number, U128>();
        for (const { key, amount, isSet } of steps) {
          const units = smallU128(amount);
          if (isSet) amounts.set(key, units);
          else amounts.add(key, units);
          map.set(key, isSet ? units : sumU128(map.get(key) ?? zeroU128, units));
        }
        const places = [...map.keys()].map((_, place) => place);
        expect(places.map((place) => [amounts.keyAt(place), amounts.amountAt(place)])).toEqual([...map]);
        expect(amounts.size).toBe(map.size);
        expect(amounts.sorted().map((place) => amounts.keyAt(place))).toEqual(
          [...map.keys()].sort((a, b) => a - b),
        );
        for (let key = -3; key <= 26; key++) {
          expect(amounts.has(key)).toBe(map.has(key));
          expect(amounts.get(key)).toBe(map.get(key) ?? zeroU128);
        }
      }
    }),
    propertyBounds(200),
  );
});
