import { createHash } from 'node:crypto';

/**
 * UTF-8 of a term as it is. Lucene refuses one of more than 32,766 bytes together with its document, and what miners let in is
 * bounded by the block alone: a longer one is named by its hash.
 */
const termBytesMax = 512;

/** A value as it stands in the index, to be found whole: equal for equal values, whatever their length. */
export function indexTerm(value: string): string {
  if (Buffer.byteLength(value) <= termBytesMax) return value;
  return `sha256:${createHash('sha256').update(value).digest('hex')}`;
}

/** A name and its value in one term; NUL is in no folded text. */
export const indexPair = (name: string, value: string): string => `${indexTerm(name)}\0${indexTerm(value)}`;
