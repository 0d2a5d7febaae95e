// The rules of docs/search.md, "Words", code point by code point. It shares no code with an engine.

const letter = /^[\p{L}\p{M}\p{N}]$/u;
const isLetter = (point: string): boolean => letter.test(point);

const equals = new Map<string, boolean>();

/** Whether two characters are equal under the language's own simple case folding. */
function isSame(a: string, b: string): boolean {
  if (a === b) return true;
  const pair = `${a}${b}`;
  let same = equals.get(pair);
  if (same === undefined) {
    same = new RegExp(`^\\u{${a.codePointAt(0)!.toString(16)}}$`, 'iu').test(b);
    equals.set(pair, same);
  }
  return same;
}

/** Splits a text into runs of up to 64 letters, as lists of code points. Repeated words are kept. */
export function naiveWords(text: string): string[][] {
  const words: string[][] = [];
  let word: string[] = [];
  for (const point of Array.from(`${text} `)) {
    if (isLetter(point)) {
      word.push(point);
      continue;
    }
    if (word.length > 0 && word.length <= 64) words.push(word);
    word = [];
  }
  return words;
}

const editsAllowed = (length: number): number => [0, 0, 0, 1, 1, 1][length] ?? 2;

/**
 * The number of edits between two words. An edit inserts, deletes or changes a letter, or swaps two neighbours. No part
 * is edited twice.
 */
export function naiveEdits(a: readonly string[], b: readonly string[]): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const changed = rows[i - 1]![j - 1]! + (isSame(a[i - 1]!, b[j - 1]!) ? 0 : 1);
      let least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, changed);
      if (i > 1 && j > 1 && isSame(a[i - 1]!, b[j - 2]!) && isSame(a[i - 2]!, b[j - 1]!)) {
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      }
      rows[i]![j] = least;
    }
  }
  return rows[a.length]![b.length]!;
}

const wordsOfTexts = new Map<string, string[][]>();
/** Maximum number of texts whose words are cached. */
const keptTextsMax = 20_000;

/** The words of a text, cached because many queries need them. */
function keptWords(text: string): string[][] {
  let words = wordsOfTexts.get(text);
  if (words === undefined) {
    words = naiveWords(text);
    if (wordsOfTexts.size >= keptTextsMax) wordsOfTexts.clear();
    wordsOfTexts.set(text, words);
  }
  return words;
}

/** Whether a text has all words of a query, within the edits that a fuzzy search allows. */
export function hasWords(text: string, question: string, isFuzzy: boolean): boolean {
  const words = keptWords(text);
  return naiveWords(question).every((wanted) => {
    const edits = isFuzzy ? editsAllowed(wanted.length) : 0;
    return words.some(
      (word) => Math.abs(word.length - wanted.length) <= edits && naiveEdits(wanted, word) <= edits,
    );
  });
}
