import { randomInt } from 'node:crypto';
import { fnv1a } from '#kernel/fnv1a.ts';
import { isWithinEdits } from '#kernel/text/edit-distance.ts';
import type { CheckInParts } from './check-in-parts.ts';
import { type EachWord, readPoints, scanWords } from './word-scan.ts';
import { editsOf, wordCodePointsMax } from './words.ts';

/** Whether a folded text (UTF-8) has all words. */
export type WordCheck = CheckInParts<Uint8Array>;

/**
 * Number of bytes that take a millisecond: their words are looked up (`exact`), or compared with one other word
 * (`fuzzy`).
 */
const partBytes = { exact: 128 * 1024, fuzzy: 256 * 1024 } as const;

/** Visits the words of a text until `each` has found all. */
function* inParts(text: Uint8Array, bytes: number, each: EachWord): Generator<void, void> {
  for (let at = scanWords(text, 0, bytes, each); at < text.length; at = scanWords(text, at, bytes, each))
    yield;
}

/** A check for whole folded words: compares words of equal length byte by byte. */
export function exactWordCheck(words: readonly string[]): WordCheck {
  const byLength = new Map<number, { readonly bytes: Buffer; readonly index: number }[]>();
  for (const [index, word] of words.entries()) {
    const bytes = Buffer.from(word);
    const same = byLength.get(bytes.length);
    if (same === undefined) byLength.set(bytes.length, [{ bytes, index }]);
    else same.push({ bytes, index });
  }
  return function* (text) {
    const found = new Uint8Array(words.length);
    let left = words.length;
    yield* inParts(text, partBytes.exact, (start, end) => {
      for (const { bytes, index } of byLength.get(end - start) ?? []) {
        if (found[index] === 1 || !isEqual(text, start, bytes)) continue;
        found[index] = 1;
        left--;
      }
      return left === 0;
    });
    return left === 0;
  };
}

function isEqual(text: Uint8Array, start: number, bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) if (text[start + at] !== bytes[at]) return false;
  return true;
}

/**
 * Finds which of many folded words a folded text (UTF-8) has, in one scan of the text. It yields after each part, like
 * a check.
 *
 * @param words each word once
 */
export function* findWords(text: Uint8Array, words: readonly string[]): Generator<void, ReadonlySet<string>> {
  const found = new Set<string>();
  const wanted = new Map<number, { readonly bytes: Buffer; readonly word: string }[]>();
  for (const word of words) {
    const bytes = Buffer.from(word);
    const key = wordKey(bytes, 0, bytes.length);
    const same = wanted.get(key);
    if (same === undefined) wanted.set(key, [{ bytes, word }]);
    else same.push({ bytes, word });
  }
  yield* inParts(text, partBytes.exact, (start, end) => {
    const same = wanted.get(wordKey(text, start, end));
    if (same === undefined) return false;
    for (const { bytes, word } of same)
      if (bytes.length === end - start && isEqual(text, start, bytes)) found.add(word);
    return found.size === words.length;
  });
  return found;
}

/**
 * A hash of the bytes of a word, with a random start: no one can choose words that share a hash, so that each word of a
 * text would be compared with all of them.
 */
const wordKey = (text: Uint8Array, start: number, end: number): number => fnv1a(text, start, end, hashStart);
const hashStart = randomInt(2 ** 31);

interface FuzzyWord {
  readonly index: number;
  readonly points: Int32Array;
  readonly letters: number;
  readonly edits: number;
}

/**
 * The code points of a word as a set of 32 classes. An edit changes at most two classes, so words that differ in more
 * than two classes per edit need not be compared.
 */
function lettersOf(points: Int32Array, length: number): number {
  let letters = 0;
  for (let at = 0; at < length; at++) letters |= 1 << (points[at]! & 31);
  return letters;
}

/**
 * Number of set bits in 32 bits, summed in pairs, nibbles and bytes. It runs for each word of a text and each wanted
 * word.
 */
function countOnes(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** A check for words up to `editsOf` edits away. */
export function fuzzyWordCheck(words: readonly string[]): WordCheck {
  const wanted = words.map((word, index): FuzzyWord => {
    const points = Int32Array.from(Array.from(word), (point) => point.codePointAt(0) as number);
    return { index, points, letters: lettersOf(points, points.length), edits: editsOf(word) };
  });
  // by the length of the word in the text, because an edit changes the length by at most one
  const byLength = Array.from({ length: wordCodePointsMax + 1 }, (_, length) =>
    wanted.filter(({ points, edits }) => Math.abs(points.length - length) <= edits),
  );
  const bytes = Math.ceil(partBytes.fuzzy / words.length);
  const scratch = new Int32Array(wordCodePointsMax);
  return function* (text) {
    const found = new Uint8Array(words.length);
    let left = wanted.length;
    yield* inParts(text, bytes, (start, end, length) => {
      const near = byLength[length]!;
      if (near.length === 0) return false;
      readPoints(text, start, end, scratch);
      const letters = lettersOf(scratch, length);
      for (const { index, points, letters: own, edits } of near) {
        if (found[index] === 1) continue;
        if (countOnes(letters ^ own) > 2 * edits) continue;
        if (!isWithinEdits(points, points.length, scratch, length, edits)) continue;
        found[index] = 1;
        left--;
      }
      return left === 0;
    });
    return left === 0;
  };
}
