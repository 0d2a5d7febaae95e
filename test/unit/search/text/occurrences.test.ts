import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Occurrences } from '#search/text/occurrences.ts';

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
    { numRuns: 2000 },
  );
});

test('takes no longer for texts that are nearly the needle everywhere', () => {
  const needle = `${'a'.repeat(250)}b${'a'.repeat(749)}`;
  const text = `${'a'.repeat(16_000_000)}${needle}`;
  const begin = performance.now();
  expect(new Occurrences(needle).first(text)).toBe(16_000_000);
  // a tenth of a second; indexOf takes more than four
  expect(performance.now() - begin).toBeLessThan(2000);
});
