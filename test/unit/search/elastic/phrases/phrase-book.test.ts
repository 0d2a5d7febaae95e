import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldText } from '#kernel/text/fold.ts';
import { termBorder } from '#kernel/text/index-pair.ts';
import { learnPhrases } from '#search/elastic/phrases/learn-phrases.ts';
import { PhraseBook, waysMax } from '#search/elastic/phrases/phrase-book.ts';
import { foldedOfGram, gramNeedle, gramText, phraseLetters } from '#search/text/gram-text.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const isIn = (book: PhraseBook, needle: string, folded: string): boolean => {
  const { text, shape } = book.encode(folded);
  const ways = book.waysOf(gramNeedle(needle));
  expect(ways.parts.length).toBeLessThanOrEqual(waysMax);
  return (
    ways.phrases.some((letter) => shape?.includes(letter) === true) ||
    ways.parts.some((part) => text.includes(part))
  );
};

/** Texts of few letters, so that phrases overlap each other and themselves in every way. */
const dense = fc.string({ unit: fc.constantFrom('a', 'b', '"', '😀'), maxLength: 24 });
const phrase = fc.string({ unit: fc.constantFrom('a', 'b', '"', '😀'), minLength: 2, maxLength: 6 });
const phraseLists = fc.uniqueArray(phrase, { maxLength: 6 });

function bookOf(phrases: readonly string[]): PhraseBook {
  const accepted: string[] = [];
  for (const one of phrases) if (PhraseBook.tryOf([...accepted, one]) !== null) accepted.push(one);
  return new PhraseBook(accepted);
}

test('a needle is in a text exactly where one of its ways is in the encoded text', () => {
  fc.assert(
    fc.property(phraseLists, dense, dense, (phrases, text, needle) => {
      fc.pre(needle !== '');
      expect(isIn(bookOf(phrases), needle, text)).toBe(text.includes(needle));
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('every piece of a text is found in it', () => {
  const cut = fc.tuple(phraseLists, dense, fc.nat(), fc.nat());
  fc.assert(
    fc.property(cut, ([phrases, text, from, length]) => {
      const points = Array.from(text);
      const at = from % Math.max(1, points.length);
      const needle = points.slice(at, at + 1 + (length % 8)).join('');
      fc.pre(needle !== '');
      expect(isIn(bookOf(phrases), needle, text)).toBe(true);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('texts of phrases are shorter, and where the phrases are stays known', () => {
  const book = new PhraseBook(['{"p":"brc-20","op":"', '","tick":"', '","amt":"']);
  const folded = '{"p":"brc-20","op":"mint","tick":"ordi","amt":"1000"}';
  const { text, shape } = book.encode(folded);
  expect(Array.from(text)).toHaveLength('①mint②ordi③1000"}--'.length);
  expect(shape).toHaveLength(3);
  for (const needle of ['brc-20', '"op":"m', 'nt","tick":"o', 'i","amt":"1000"}', '"', 'mint', '":"mint","'])
    expect([needle, isIn(book, needle, folded)]).toEqual([needle, true]);
  for (const needle of ['brc-21', '"op":"t', 'mint"tick', '"}"']) {
    expect([needle, isIn(book, needle, folded)]).toEqual([needle, false]);
  }
});

test('two phrases never meet: the code point after one is taken as it is', () => {
  const book = new PhraseBook(['abc', 'def']);
  expect(book.encode('abcdef').shape).toHaveLength(1);
  expect(isIn(book, 'cd', 'abcdef')).toBe(true);
  expect(isIn(book, 'def', 'abcdef')).toBe(true);
});

test('the letters of phrases are in no folded text, and stand for nothing else', () => {
  const others = gramText(
    `"\\${Array.from({ length: 31 }, (_, control) => String.fromCodePoint(control + 1)).join('')}`,
  );
  for (const letter of phraseLetters) {
    expect(foldText(letter)).not.toBe(letter);
    expect(others + termBorder).not.toContain(letter);
  }
  expect(new Set(phraseLetters).size).toBe(Array.from(phraseLetters).length);
});

test('what is analysed can be read again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const folded = foldText(text);
      expect(foldedOfGram(gramNeedle(folded))).toBe(folded);
    }),
  );
});

test('phrases that overlap too much, or too many of them, are refused', () => {
  expect(() => new PhraseBook(['a'.repeat(40)])).toThrow(RangeError);
  expect(() => new PhraseBook(Array.from({ length: 60 }, (_, at) => `phrase number ${at}`))).toThrow(
    RangeError,
  );
});

test('what most texts share is learned, longest where it saves most, and always a book', async () => {
  const texts = Array.from({ length: 400 }, (_, at) =>
    at % 2 === 0
      ? `{"p":"brc-20","op":"mint","tick":"${String.fromCodePoint(97 + (at % 26)).repeat(4)}","amt":"${at * 7919}"}`
      : `${(at * 104_729) % 999_983}.bitmap`,
  );
  const phrases = await learnPhrases(texts);
  expect(phrases).toContain('.bitmap');
  expect(phrases[0]).toContain('{"p":"brc-20","op":"mint","tick":"');
  const book = new PhraseBook(phrases);
  const lengthOf = (all: readonly string[]): number => all.reduce((sum, { length }) => sum + length, 0);
  expect(lengthOf(texts.map((text) => book.encode(text).text))).toBeLessThan(lengthOf(texts) / 2);
  // a phrase is not chosen if the next one loses more than the phrase saves; the two are better as one phrase
  const transfers = texts.map((text) => text.replace('mint', text.length % 3 === 0 ? 'transfer' : 'mint'));
  const shorter = new PhraseBook(await learnPhrases(transfers));
  for (const text of transfers.slice(0, 50)) expect(shorter.encode(text).text.length).toBeLessThan(25);
  // texts that share nothing, and texts that repeat themselves endlessly
  expect(await learnPhrases([])).toEqual([]);
  expect(
    await learnPhrases(
      Array.from({ length: 50 }, (_, at) => createHash('md5').update(String(at)).digest('hex')),
    ),
  ).toEqual([]);
  const loops = await learnPhrases(Array.from({ length: 50 }, () => 'ab'.repeat(500)));
  expect(PhraseBook.tryOf(loops)).not.toBeNull();
});
