import { expect, test } from 'vitest';
import { PhraseBook } from '#search/elastic/phrases/phrase-book.ts';
import { needleClauses, type Phrases, textQuery } from '#search/elastic/queries/text-query.ts';

/**
 * Phrases of an index of `texts`. Each text has as many inscriptions as its position says. `null`: the counts are
 * unknown.
 */
function phrasesOf(folded: readonly string[], texts: readonly string[] | null): Phrases {
  const book = new PhraseBook(folded);
  const counts = new Map<string, number>();
  for (const [at, text] of (texts ?? []).entries()) {
    const { shape } = book.encode(text);
    if (shape !== null) counts.set(shape, (counts.get(shape) ?? 0) + at + 1);
  }
  return {
    book,
    shapes: () => (texts === null ? null : counts),
    search: () => Promise.reject(new Error('nothing else is asked')),
  };
}

const noPhrases = phrasesOf([], []);

test('a needle of three code points and more is a phrase, a shorter one the beginning of a gram', () => {
  expect(needleClauses('text', ['abc', 'x'])).toEqual([
    { match_phrase: { text: { query: 'abc' } } },
    { prefix: { text: { value: 'x' } } },
  ]);
  // each emoji has two UTF-16 units, so these four units are two code points
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

test('words are terms, and fuzzy ones as far away as their length allows, without a bound on how many', async () => {
  expect(
    (await textQuery({ corpus: 'metadata', match: 'words', needles: ['ab', 'cd', 'ab'] }, noPhrases))
      ?.clauses,
  ).toEqual([{ term: { metadataWords: 'ab' } }, { term: { metadataWords: 'cd' } }]);
  const edits = (value: string, fuzziness: number) => ({
    fuzzy: { words: { value, fuzziness, prefix_length: 0, transpositions: true, rewrite: 'constant_score' } },
  });
  expect(
    (await textQuery({ corpus: 'content', match: 'fuzzy', needles: ['ab', 'abc', 'abcdef'] }, noPhrases))
      ?.clauses,
  ).toEqual([{ term: { words: 'ab' } }, edits('abc', 1), edits('abcdef', 2)]);
  expect(await textQuery({ corpus: 'content', match: 'words', needles: ['\ud83d'] }, noPhrases)).toBeNull();
});

const phrases = ['{"p":"brc-20","op":"', '","tick":"', 'satoshi'];
const texts = [
  '{"p":"brc-20","op":"mint","tick":"ordi"}',
  'of satoshi',
  '{"p":"brc-20","op":"deploy"}',
  'nothing',
];
const ask = (needles: readonly string[], of: Phrases, namedShapesMax = 10) =>
  textQuery({ corpus: 'content', needles }, of, { namedShapesMax });

test('what texts have within phrases is counted by their shapes, and asked for by them', async () => {
  const of = phrasesOf(phrases, texts);
  const { clauses, within } = (await ask(['brc-20'], of))!;
  expect(within?.inscriptions).toBe(1 + 3);
  const [shapes] = [...(of.shapes() ?? [])].map(([shape]) => shape);
  expect(JSON.stringify(clauses)).toContain(JSON.stringify({ term: { shape: shapes } }));
  // one text has both needles within its phrases
  expect((await ask(['brc-20', 'tick'], of))?.within?.inscriptions).toBe(1);
  expect((await ask(['brc-20', 'satoshi'], of))?.within).toBeNull();
  // the second needle is in no phrase, so texts must be read
  expect((await ask(['brc-20', 'ordi'], of))?.within).toBeNull();
});

test('several needles are rare unless phrases that texts share have all of them', async () => {
  const isRare = async (needles: readonly string[]): Promise<boolean | undefined> =>
    (await ask(needles, phrasesOf(phrases, texts)))?.isRare;
  expect(await isRare(['brc-20', 'ordi'])).toBe(true);
  expect(await isRare(['ordi', 'nothing'])).toBe(true);
  // no text has both phrases
  expect(await isRare(['brc-20', 'satoshi'])).toBe(true);
  expect(await isRare(['brc-20', 'tick'])).toBe(false);
  // very many texts may have these
  expect(await isRare(['brc-20', 'x'])).toBe(false);
  expect(await isRare(['ordi'])).toBe(false);
});

test('nothing is asked of the texts where there is no needle', async () => {
  expect(await ask([], phrasesOf(phrases, texts))).toEqual({
    clauses: [],
    within: null,
    isRare: false,
  });
});

test('more shapes than can be named, or known, are a pattern', async () => {
  const pattern = (needles: string): string => `{"regexp":{"shape":{"value":"${needles}"`;
  const known = (await ask(['brc-20'], phrasesOf(phrases, texts), 1))!;
  expect(JSON.stringify(known.clauses)).toContain(pattern('.*[А].*'));
  expect(known.within?.inscriptions).toBe(4);
  const unknown = (await ask(['brc-20', 'tick'], phrasesOf(phrases, null)))!;
  expect(JSON.stringify(unknown.clauses)).toContain(pattern('.*[А].*&.*[Б].*'));
  expect(unknown.within).toBeNull();
});

test('many needles are a clause each, and a pattern each, as a server bounds all clauses together', async () => {
  const needles = Array.from({ length: 31 }, (_, at) => `"ordi","${100 + at}`);
  const { clauses, within } = (await ask([...needles, 'brc-20'], phrasesOf(phrases, texts)))!;
  expect(clauses).toHaveLength(32);
  expect(within).toBeNull();
  expect(JSON.stringify(clauses)).toContain('"regexp"');
});

test('parts of phrases that no text has together are not asked for', async () => {
  const partsOf = async (needle: string, of: Phrases): Promise<number> =>
    JSON.stringify((await ask([needle], of))!.clauses).split('match_phrase').length - 1;
  const needle = '","tick":"ordi satoshi';
  const apart = await partsOf(needle, phrasesOf(phrases, texts));
  expect(await partsOf(needle, phrasesOf(phrases, [...texts, needle]))).toBeGreaterThan(apart);
  expect(await partsOf(needle, phrasesOf(phrases, null))).toBeGreaterThan(apart);
});
