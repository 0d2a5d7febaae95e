import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Occurrences } from '#search/text/occurrences.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

function naive(text: string, needle: string): number[] {
  return Array.from({ length: text.length }, (_, at) => at).filter((at) => text.startsWith(needle, at));
}

test('finds what is there, overlaps and halves of surrogate pairs included', () => {
  const units = fc.constantFrom('a', 'a', 'b', '\ud83d', '\ude00', 'é');
  const string = (minLength: number, maxLength: number) =>
    fc.array(units, { minLength, maxLength }).map((all) => all.join(''));
  fc.assert(
    fc.property(string(0, 60), string(1, 6), (text, needle) => {
      const occurrences = new Occurrences(needle);
      expect([...occurrences.all(text)]).toEqual(naive(text, needle));
      expect(occurrences.first(text)).toBe(text.indexOf(needle));
    }),
    { numRuns: propertyRuns(500) },
  );
});

/** A text that counts how often its units are read. */
class CountedText extends String {
  looks = 0;

  override charCodeAt(index: number): number {
    this.looks++;
    return super.charCodeAt(index);
  }
}

test('looks at each unit a bounded number of times in texts that are nearly the needle everywhere', () => {
  const needle = new CountedText(`${'a'.repeat(250)}b${'a'.repeat(749)}`);
  const length = 1_000_000;
  const occurrences = new Occurrences(needle as unknown as string);
  needle.looks = 0;
  expect(occurrences.first(`${'a'.repeat(length)}${needle.toString()}`)).toBe(length);
  // at most three comparisons for each unit; `indexOf` makes 250
  expect(needle.looks).toBeLessThan(3 * (length + needle.length));
});
