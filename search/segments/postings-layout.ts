/**
 * Maximum number of ids in a segment of texts. A new segment begins at each multiple of this number. A bitmap over the
 * ids (7,680 bytes) fits in a page of Postgres together with its row, and offsets within the segment fit in 16 bits.
 */
export const windowIds = 61_440;
export const bitmapBytes = windowIds / 8;

/**
 * Maximum bytes of a block of grams. With its row it fills one page of 8 kB (24 bytes of page header, 4 of line
 * pointer, 24 of tuple header, 16 of other columns) and is never stored out of line. The block of passages can be
 * larger.
 */
export const blockMaxBytes = 8100;

/**
 * A gram is one, two or three code points, stored as three numbers (first, middle, last), with leading zeros if there
 * are fewer code points. No folded text has a code point 0, so this is unambiguous. As one number of 63 bits it is
 * first << 42 | middle << 21 | last; `high` and `low` are the 32-bit halves of that number.
 */
export type Gram = readonly [first: number, middle: number, last: number];

export const gramHigh = (first: number, middle: number): number => (first << 10) | (middle >>> 11);
export const gramLow = (middle: number, last: number): number => ((middle << 21) | last) >>> 0;

export const gramFirst = (high: number): number => high >>> 10;
export const gramMiddle = (high: number, low: number): number => ((high & 0x3ff) << 11) | (low >>> 21);
export const gramLast = (low: number): number => low & 0x1fffff;

/** A gram in the form of chain.search_postings.first_gram. */
export const gramKey = ([first, middle, last]: Gram): bigint =>
  (BigInt(gramHigh(first, middle) >>> 0) << 32n) | BigInt(gramLow(middle, last));

/**
 * The key of a segment's passages among its blocks of postings. Its first number is no code point, and is larger than
 * all of them. The row of passages may be stored out of line.
 */
export const passagesGram: Gram = [0x1fffff, 0, 0];

/** Number of bytes before the passages of a block: the length of all passages. */
export const passagesHeadBytes = 4;
