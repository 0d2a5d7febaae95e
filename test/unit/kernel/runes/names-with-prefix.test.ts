import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asRune, parseRune, rangesOfPrefix, runeLetters } from '#kernel/runes/rune.ts';
import { maxU128 } from '#kernel/runes/u128.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const letters = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom('A', 'B', 'M', 'Y', 'Z'), minLength: 1, maxLength });

test('a name is in the ranges of a prefix if it begins with it', () => {
  fc.assert(
    fc.property(letters(6), letters(28), fc.boolean(), (prefix, rest, joined) => {
      const name = joined ? prefix + rest.slice(0, 28 - prefix.length) : rest;
      const rune = parseRune(name);
      fc.pre(rune !== null);
      const isIn = rangesOfPrefix(prefix).some(({ first, last }) => first <= rune && rune <= last);
      expect(isIn).toBe(name.startsWith(prefix));
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('no range is past the last name, and other characters have none', () => {
  const last = runeLetters(asRune(maxU128));
  expect(rangesOfPrefix(last)).toEqual([{ first: maxU128, last: maxU128 }]);
  expect(rangesOfPrefix('A').at(-1)).toMatchObject({ first: parseRune('A'.repeat(28)) });
  for (const prefix of ['', 'a', 'A•B', 'Z'.repeat(28), 'A'.repeat(29)])
    expect(rangesOfPrefix(prefix)).toEqual([]);
});
