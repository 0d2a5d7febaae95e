/** Folding that a text needs (kernel/text/fold.ts): none, ASCII letters only, or all of Unicode. */
export const foldNeeds = { nothing: 0, ascii: 1, unicode: 2 } as const;
export type FoldNeed = (typeof foldNeeds)[keyof typeof foldNeeds];

// Tests of four bytes at a time. If the bytes are below 0x80, these sums never carry into the next byte, and the high
// bit of a byte's sum shows:
const lowBits = 0x7f7f7f7f;
const highBits = 0x80808080;
/** the byte is not before "A" */
const fromA = 0x3f3f3f3f;
/** the byte is after "Z" */
const afterZ = 0x25252525;
/** the byte is not NUL */
const fromOne = 0x7f7f7f7f;

const upperCase = (word: number): number =>
  ((word & lowBits) + fromA) & ~((word & lowBits) + afterZ) & highBits;

/** Whether four bytes are ASCII other than NUL. */
export const isPlainAscii = (word: number): boolean =>
  (((word & lowBits) + fromOne) & ~word & highBits) === (highBits | 0);

/** Four ASCII bytes, folded: setting bit 5 turns an upper-case letter into lower case. */
export const foldAsciiWord = (word: number): number => word | (upperCase(word) >>> 2);

/**
 * The folding that `length` bytes need, beginning with word `first`. Later bytes of the last word do not matter. NUL
 * needs the rules of Unicode, because it becomes another character (docs/search.md).
 */
export function foldNeed(words: Int32Array, first: number, length: number): FoldNeed {
  const end = first + (length >> 2);
  let high = 0;
  let notNul = highBits;
  let upper = 0;
  for (let at = first; at < end; at++) {
    const word = words[at]!;
    high |= word;
    notNul &= (word & lowBits) + fromOne;
    upper |= upperCase(word);
  }
  const rest = length & 3;
  if (rest > 0) {
    // treat the bytes after the text as blanks, which need no folding
    const afterText = -1 << (rest * 8);
    const word = (words[end]! & ~afterText) | (0x20202020 & afterText);
    high |= word;
    notNul &= (word & lowBits) + fromOne;
    upper |= upperCase(word);
  }
  if (((high | ~notNul) & highBits) !== 0) return foldNeeds.unicode;
  return upper === 0 ? foldNeeds.nothing : foldNeeds.ascii;
}

/**
 * Folds ASCII: copies the words that contain `length` bytes, from word `first` on, in folded form to word `to` and
 * after.
 */
export function foldAscii(words: Int32Array, first: number, length: number, to: number): void {
  const end = first + ((length + 3) >> 2);
  const shift = to - first;
  for (let at = first; at < end; at++) {
    words[at + shift] = foldAsciiWord(words[at]!);
  }
}
