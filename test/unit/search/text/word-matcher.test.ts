import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wordMatcher } from '#search/text/word-matcher.ts';
import { editsOf } from '#search/text/words.ts';

/** The distance by its definition, without a table. */
function distance(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  const [restA, restB] = [a.slice(0, -1), b.slice(0, -1)];
  const isEqual = a.at(-1) === b.at(-1);
  const ways = [distance(restA, b) + 1, distance(a, restB) + 1, distance(restA, restB) + (isEqual ? 0 : 1)];
  const isSwapped = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1);
  if (isSwapped) ways.push(distance(a.slice(0, -2), b.slice(0, -2)) + 1);
  return Math.min(...ways);
}

describe('edits between words', () => {
  test('are those of optimal string alignment', () => {
    const word = fc.array(fc.constantFrom('a', 'b', '😀'), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const wanted = a.join('');
        expect(wordMatcher(wanted, 'fuzzy')(b.join(''))).toBe(distance(a, b) <= editsOf(wanted));
      }),
    );
  });

  test('count code points, and swaps as one', () => {
    const matches = wordMatcher('😀abcd', 'fuzzy');
    expect(['😀abcd', '😀bacd', 'abcd', '😁abcd', '😀abcdé'].map(matches)).toEqual(Array(5).fill(true));
    expect(['😀bcda', 'abcde', '😁abce'].map(matches)).toEqual([false, false, false]);
  });

  test('are empty for short words, and without fuzzy', () => {
    expect(wordMatcher('ab', 'fuzzy')('ac')).toBe(false);
    expect(wordMatcher('bitcoin', 'words')('bitcion')).toBe(false);
    expect(wordMatcher('bitcoin', 'words')('bitcoin')).toBe(true);
  });
});
