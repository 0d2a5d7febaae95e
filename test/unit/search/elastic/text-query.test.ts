import { expect, test } from 'vitest';
import { needleClauses } from '#search/elastic/text-query.ts';

test('a needle of three code points and more is a phrase, a shorter one the beginning of a gram', () => {
  expect(needleClauses('content', ['abc', 'x'])).toEqual([
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
  expect(needleClauses('content', ['b', 'abc', 'bc', 'abc', 'abcd'])).toEqual([
    { match_phrase: { text: { query: 'abcd' } } },
  ]);
  expect(needleClauses('content', ['ab', 'ba'])).toHaveLength(2);
});

test('half of a surrogate pair is in no text', () => {
  expect(needleClauses('content', ['abc', '\ud83d'])).toBeNull();
});
