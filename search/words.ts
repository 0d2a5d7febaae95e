import { foldText } from '#kernel/text/fold.ts';

/**
 * Longer runs of letters are data (base64, keys), which nobody looks for as a word; they are no words in texts either.
 * An index of words stays small so.
 */
export const wordCodePointsMax = 64;

const runOfLetters = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * The words of a text, folded, each once, in the order in which they come first: runs of letters, marks and digits, as far as they
 * have no more than `wordCodePointsMax` code points. Everything else divides words.
 */
export function wordsOf(text: string): string[] {
  return wordsOfFolded(foldText(text));
}

/** As `wordsOf`, of a text that is folded already. */
export function wordsOfFolded(folded: string): string[] {
  const words = new Set<string>();
  for (const [word] of folded.matchAll(runOfLetters)) {
    // a code point is one or two units
    if (word.length > 2 * wordCodePointsMax) continue;
    if (word.length > wordCodePointsMax && [...word].length > wordCodePointsMax) continue;
    words.add(word);
  }
  return [...words];
}

/** How many edits (one code point put in, left out, changed, or two neighbours swapped) a word of a fuzzy search may be away. */
export function editsOf(word: string): 0 | 1 | 2 {
  const length = [...word].length;
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
}
