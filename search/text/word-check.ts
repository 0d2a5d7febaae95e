import { isWithinEdits } from '#kernel/text/edit-distance.ts';
import { readPoints, scanWords } from './word-scan.ts';
import { editsOf, wordCodePointsMax } from './words.ts';

/** Whether a folded text (UTF-8) has all words. */
export type WordCheck = (text: Uint8Array) => boolean;

/** A check for whole folded words: compares words of equal length byte by byte. */
export function exactWordCheck(words: readonly string[]): WordCheck {
  const byLength = new Map<number, { readonly bytes: Buffer; readonly index: number }[]>();
  for (const [index, word] of words.entries()) {
    const bytes = Buffer.from(word);
    const same = byLength.get(bytes.length);
    if (same === undefined) byLength.set(bytes.length, [{ bytes, index }]);
    else same.push({ bytes, index });
  }
  const found = new Uint8Array(words.length);
  return (text) => {
    found.fill(0);
    let left = words.length;
    scanWords(text, (start, end) => {
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

interface FuzzyWord {
  readonly points: Int32Array;
  readonly letters: number;
  readonly edits: number;
}

/**
 * The code points of a word in 32 classes. An edit changes at most two classes, so words that differ in more than two
 * classes per edit need no comparison.
 */
function lettersOf(points: Int32Array, length: number): number {
  let letters = 0;
  for (let at = 0; at < length; at++) letters |= 1 << (points[at]! & 31);
  return letters;
}

function countOnes(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** A check for words up to `editsOf` edits away. */
export function fuzzyWordCheck(words: readonly string[]): WordCheck {
  const wanted = words.map((word): FuzzyWord => {
    const points = Int32Array.from(Array.from(word), (point) => point.codePointAt(0) as number);
    return { points, letters: lettersOf(points, points.length), edits: editsOf(word) };
  });
  const found = new Uint8Array(words.length);
  const scratch = new Int32Array(wordCodePointsMax);
  return (text) => {
    found.fill(0);
    let left = wanted.length;
    scanWords(text, (start, end, length) => {
      let letters = -1;
      for (const [index, { points, letters: own, edits }] of wanted.entries()) {
        if (found[index] === 1 || Math.abs(points.length - length) > edits) continue;
        if (letters === -1) {
          readPoints(text, start, end, scratch);
          letters = lettersOf(scratch, length);
        }
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
