import { createHash } from 'node:crypto';

/** Separates two folded texts in one term: a letter that occurs in none, because folding makes a small one of it. */
export const termBorder = 'Ÿ';

/**
 * Longer pairs are named by a hash: a long name before a hundred thousand values would be copied as often in one
 * document.
 */
const pairLengthMax = 64;

/** A folded name and its folded value as one term; the separator occurs in no folded text. */
export function indexPair(name: string, value: string): string {
  const pair = `${name}${termBorder}${value}`;
  return pair.length <= pairLengthMax ? pair : termBorder + termBorder + digestOf(pair);
}

/** 192 bits: no two values with one name can be made. */
export const digestOf = (value: string | Uint8Array): string =>
  createHash('sha256').update(value).digest().subarray(0, 24).toString('base64url');
