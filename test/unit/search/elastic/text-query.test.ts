import { expect, test } from 'vitest';
import { PhraseBook } from '#search/elastic/phrase-book.ts';
import { needleClauses, textClauses } from '#search/elastic/text-query.ts';

const noPhrases = new PhraseBook([]);

test('a needle of three code points and more is a phrase, a shorter one the beginning of a gram', () => {
  expect(needleClauses('text', ['abc', 'x'])).toEqual([
    { match_phrase: { text: { query: 'abc' } } },
    { prefix: { text: { value: 'x' } } },
  ]);
  // four UTF-16 units, two code points
  expect(needleClauses('metadata', ['😀😁'])).toEqual([{ prefix: { metadata: { value: '😀😁' } } }]);
  expect(needleClauses('metadata', ['😀😁😀'])).toEqual([
    { match_phrase: { metadata: { query: '😀😁😀' } } },
  ]);
});

test('a needle that repeats another one, or is a part of it, is asked once', () => {
  expect(needleClauses('text', ['b', 'abc', 'bc', 'abc', 'abcd'])).toEqual([
    { match_phrase: { text: { query: 'abcd' } } },
  ]);
  expect(needleClauses('text', ['ab', 'ba'])).toHaveLength(2);
});

test('half of a surrogate pair is in no text', () => {
  expect(needleClauses('text', ['abc', '\ud83d'])).toBeNull();
});

test('words are terms, and fuzzy ones as far away as their length allows, without a bound on how many', () => {
  expect(textClauses({ corpus: 'metadata', match: 'words', needles: ['ab', 'cd', 'ab'] }, noPhrases)).toEqual(
    [{ term: { metadataWords: 'ab' } }, { term: { metadataWords: 'cd' } }],
  );
  const edits = (value: string, fuzziness: number) => ({
    fuzzy: { words: { value, fuzziness, prefix_length: 0, transpositions: true, rewrite: 'constant_score' } },
  });
  expect(
    textClauses({ corpus: 'content', match: 'fuzzy', needles: ['ab', 'abc', 'abcdef'] }, noPhrases),
  ).toEqual([{ term: { words: 'ab' } }, edits('abc', 1), edits('abcdef', 2)]);
  expect(textClauses({ corpus: 'content', match: 'words', needles: ['\ud83d'] }, noPhrases)).toBeNull();
});
