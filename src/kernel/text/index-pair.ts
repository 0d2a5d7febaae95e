import { createHash } from 'node:crypto';

/**
 * Separator of two folded texts in one term. It is a letter that no folded text contains, because folding makes it
 * lower case.
 */
export const termBorder = 'Ÿ';

/**
 * Maximum length of a pair. A longer pair is replaced by a hash. Otherwise a document with a long name and a hundred
 * thousand values would contain the name as many times.
 */
const pairLengthMax = 64;

/** A folded name and its folded value as one term. The separator does not occur in folded texts. */
export function indexPair(name: string, value: string): string {
  const pair = `${name}${termBorder}${value}`;
  return pair.length <= pairLengthMax ? pair : termBorder + termBorder + digestOf(pair);
}

/** A hash of 192 bits. No one can make two values with the same hash. */
export const digestOf = (value: string | Uint8Array): string =>
  createHash('sha256').update(value).digest().subarray(0, 24).toString('base64url');
