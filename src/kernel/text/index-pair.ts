import { createHash } from 'node:crypto';

/** Separator of two folded texts in one term: a letter that no folded text has, because folding makes it lower case. */
export const termBorder = 'Ÿ';

/**
 * Longest pair; a longer one is named by a hash: a long name before a hundred thousand values would be copied as often
 * in one document.
 */
const pairLengthMax = 64;

/** A folded name and its folded value as one term; the separator occurs in no folded text. */
export function indexPair(name: string, value: string): string {
  const pair = `${name}${termBorder}${value}`;
  return pair.length <= pairLengthMax ? pair : termBorder + termBorder + digestOf(pair);
}

/** A hash of 192 bits: two values with one hash cannot be made. */
export const digestOf = (value: string | Uint8Array): string =>
  createHash('sha256').update(value).digest().subarray(0, 24).toString('base64url');
