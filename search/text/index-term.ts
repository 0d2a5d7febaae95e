import { createHash } from 'node:crypto';
import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import { termBorder } from './gram-text.ts';

/**
 * UTF-8 of a term as it is. Lucene refuses one of more than 32,766 bytes together with its document, and what miners let in is
 * bounded by the block alone: a longer one is named by its hash.
 */
const termBytesMax = 512;

/** Begins the name of a long value, and stands before a short one that begins with NUL itself. */
const escape = '\0';
/** Follows the escape in the names of long values. */
const longMark = 's';

/**
 * A value as it stands in the index, to be found whole: equal for equal values, whatever their length, and different for
 * different ones, whatever a miner has made of them.
 */
export function indexTerm(value: string): string {
  if (Buffer.byteLength(value) > termBytesMax) return longTerm(value);
  return value.startsWith(escape) ? escape + value : value;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The term of bytes that may be no UTF-8; null where they are none, and short. */
export function indexTermOfBytes(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  if (bytes.length > termBytesMax) return longTerm(bytes);
  try {
    return indexTerm(decoder.decode(bytes));
  } catch {
    return null;
  }
}

/** The value of a term; null: it is longer than a term may be. */
export function valueOfTerm(term: string): string | null {
  if (!term.startsWith(escape)) return term;
  return term.startsWith(longMark, escape.length) ? null : term.slice(escape.length);
}

/**
 * Longer pairs are named by a hash: one long name in front of a hundred thousand values would be as many copies of it, in one
 * document.
 */
const pairLengthMax = 64;

/** A name and its value in one term, both folded: the border is in no folded text. */
export function indexPair(name: string, value: string): string {
  const pair = `${name}${termBorder}${value}`;
  return pair.length <= pairLengthMax ? pair : termBorder + termBorder + digestOf(pair);
}

/** An inscription as galleries name it in the index. */
export const galleryTerm = (id: InscriptionId): string =>
  Buffer.from(inscriptionIdBytes(id)).toString('base64url');

const longTerm = (value: string | Uint8Array): string => `${escape}${longMark}${digestOf(value)}`;

/** 192 bits: nobody can make two values of one name. */
const digestOf = (value: string | Uint8Array): string =>
  createHash('sha256').update(value).digest().subarray(0, 24).toString('base64url');
