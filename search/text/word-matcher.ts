import type { TextMatch } from '#kernel/contracts/search-engine.ts';
import { isWithinEdits } from '#kernel/text/edit-distance.ts';
import { editsOf, wordCodePointsMax } from './words.ts';

/** Whether a word (from `wordsOf`) is a wanted word. Both are folded. */
export type WordMatcher = (word: string) => boolean;

/** A matcher of a searched word: the word itself, or for `fuzzy` the words a few edits away. */
export function wordMatcher(wanted: string, match: TextMatch): WordMatcher {
  const edits = match === 'fuzzy' ? editsOf(wanted) : 0;
  if (edits === 0) return (word) => word === wanted;
  const points = new Int32Array(wordCodePointsMax);
  const length = readCodePoints(wanted, points);
  const other = new Int32Array(wordCodePointsMax);
  // an edit changes the length by one code point, which is one or two units
  const unitsMin = length - edits;
  const unitsMax = 2 * (length + edits);
  return (word) =>
    word.length >= unitsMin &&
    word.length <= unitsMax &&
    isWithinEdits(points, length, other, readCodePoints(word, other), edits);
}

/** Returns the number of code points. A longer run is not a word, and is cut. */
function readCodePoints(word: string, points: Int32Array): number {
  let length = 0;
  for (const character of word) {
    if (length === points.length) break;
    points[length++] = character.codePointAt(0) as number;
  }
  return length;
}
