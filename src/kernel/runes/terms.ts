import { asU128, maxU64, sumU128, type U128, u128OrNull, zeroU128 } from './u128.ts';

/** Terms of minting a rune. Absent fields are null. Heights and offsets go up to 2^64 - 1. */
export interface Terms {
  /** Number of base units of one mint. */
  readonly amount: U128 | null;
  /** Maximum number of mints. */
  readonly cap: U128 | null;
  /** The first height at which mints are valid, and the first height at which they are no longer valid. */
  readonly heightStart: U128 | null;
  readonly heightEnd: U128 | null;
  /** Like the heights, but relative to the block of the etching. */
  readonly offsetStart: U128 | null;
  readonly offsetEnd: U128 | null;
}

/** Terms from the texts of their fields, in this order: amount, cap, heights, offsets. */
export function termsOfTexts(texts: readonly (string | null)[]): Terms {
  const [amount, cap, heightStart, heightEnd, offsetStart, offsetEnd] = texts;
  return {
    amount: u128OrNull(amount),
    cap: u128OrNull(cap),
    heightStart: u128OrNull(heightStart),
    heightEnd: u128OrNull(heightEnd),
    offsetStart: u128OrNull(offsetStart),
    offsetEnd: u128OrNull(offsetEnd),
  };
}

/** The inverse of `termsOfTexts`. */
export const textsOfTerms = (terms: Terms): (string | null)[] =>
  [terms.amount, terms.cap, terms.heightStart, terms.heightEnd, terms.offsetStart, terms.offsetEnd].map(
    (value) => (value === null ? null : String(value)),
  );

/** The first height at which mints are valid. `null` if every height is valid. `block` is the block of the etching. */
export function mintStart(terms: Terms, block: U128): U128 | null {
  const { heightStart, offsetStart } = terms;
  if (offsetStart === null) return heightStart;
  const relative = saturated(block, offsetStart);
  return heightStart !== null && heightStart > relative ? heightStart : relative;
}

/** The first height at which mints are no longer valid. `null` if there is no end. */
export function mintEnd(terms: Terms, block: U128): U128 | null {
  const { heightEnd, offsetEnd } = terms;
  if (offsetEnd === null) return heightEnd;
  const relative = saturated(block, offsetEnd);
  return heightEnd !== null && heightEnd < relative ? heightEnd : relative;
}

/**
 * Number of units of a mint at `height` after `mints` earlier mints. `null` if no mint is possible (ord's `mintable`).
 */
export function mintable(terms: Terms | null, block: U128, height: number, mints: number): U128 | null {
  if (terms === null) return null;
  const start = mintStart(terms, block);
  const end = mintEnd(terms, block);
  if (start !== null && height < start) return null;
  if (end !== null && height >= end) return null;
  return mints < (terms.cap ?? zeroU128) ? (terms.amount ?? zeroU128) : null;
}

/** A sum that stops at the largest 64-bit number, as in ord. */
function saturated(block: U128, offset: U128): U128 {
  const sum = sumU128(block, offset);
  return sum > maxU64 ? asU128(maxU64) : sum;
}
