import { comparedCodePointsMax } from '#kernel/text/edit-distance.ts';
import { foldText } from '#kernel/text/fold.ts';

/**
 * Maximum number of code points in a word. Longer runs of letters are data (base64, keys) that no one searches as a
 * word, so they are not words of texts either. The limit also keeps an index of words small.
 */
export const wordCodePointsMax = comparedCodePointsMax;

/** A run of letters, marks and digits. All other characters separate words. */
export const runOfLetters = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * The words of a text, folded, each once, in the order of their first occurrence: runs of letters, marks and digits
 * of at most `wordCodePointsMax` code points. Everything else separates words.
 */
export function wordsOf(text: string): string[] {
  return wordsOfFolded(foldText(text));
}

/** Like `wordsOf`, for a folded text. */
export function wordsOfFolded(folded: string): string[] {
  const words = new Set<string>();
  for (const [word] of folded.matchAll(runOfLetters)) if (!isTooLong(word)) words.add(word);
  return [...words];
}

const restOfRun = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * The words of `wordsOfFolded` that begin with some letters (well-formed, folded). Other words are only read if they
 * contain these letters too, so this takes a tenth of the time.
 */
export function wordsBeginningWith(beginning: string, folded: string): Set<string> {
  const words = new Set<string>();
  for (let at = folded.indexOf(beginning); at >= 0; ) {
    let end = at + 1;
    if (at === 0 || !isLetterAt(folded, codePointStart(folded, at - 1))) {
      restOfRun.lastIndex = at;
      const word = restOfRun.exec(folded)?.[0] ?? '';
      if (!isTooLong(word)) words.add(word);
      end = at + word.length;
    }
    at = folded.indexOf(beginning, end);
  }
  return words;
}

/** A code point is one or two units. */
const isTooLong = (word: string): boolean =>
  word.length > 2 * wordCodePointsMax ||
  (word.length > wordCodePointsMax && Array.from(word).length > wordCodePointsMax);

/**
 * Edits allowed for a word of a fuzzy search: a code point inserted, removed or changed, or two neighbours swapped.
 */
export function editsOf(word: string): 0 | 1 | 2 {
  const length = Array.from(word).length;
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
}

const letter = /[\p{L}\p{M}\p{N}]/u;

/** Start of the run of letters at the end of a text. The length of the text if it does not end with a letter. */
export function lastRunStart(text: string): number {
  let start = text.length;
  while (start > 0) {
    const before = codePointStart(text, start - 1);
    if (!letter.test(text.slice(before, start))) break;
    start = before;
  }
  return start;
}

/** Whether a letter, mark or digit is at a position of a text. */
export const isLetterAt = (text: string, at: number): boolean =>
  letter.test(String.fromCodePoint(text.codePointAt(at) ?? 0));

/** The index, or one less if it would divide a surrogate pair. */
export function codePointStart(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
