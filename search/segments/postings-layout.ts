/**
 * Maximum number of ids in a segment of texts. A new segment begins at each multiple of this number. A bitmap over the
 * ids (7,680 bytes) fits in a page of Postgres together with its row, and offsets within the segment fit in 16 bits.
 */
export const windowIds = 61_440;
export const bitmapBytes = windowIds / 8;

/**
 * Maximum bytes of a block. With its row it fills one page of 8 kB (24 bytes of page header, 4 of line pointer, 24 of
 * tuple header, 16 of other columns) and is never stored out of line.
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
