import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import { digestOf } from '#kernel/text/index-pair.ts';

/**
 * Maximum length of a term in bytes of UTF-8. Lucene refuses a document with a term above 32,766 bytes, but values are
 * only limited by the block. So the term of a longer value is its hash.
 */
const termBytesMax = 512;

/** Begins the name of a long value, and escapes a short value that begins with NUL. */
const escape = '\0';
/** Follows the escape in the names of long values. */
const longMark = 's';

/**
 * A value in the form of the index, to find the whole value. Equal values have equal terms, and different values have
 * different terms, at any length and for hostile input.
 */
export function indexTerm(value: string): string {
  if (Buffer.byteLength(value) > termBytesMax) return longTerm(value);
  return value.startsWith(escape) ? escape + value : value;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The term of bytes that may not be UTF-8. Null: the bytes are short and not UTF-8. */
export function indexTermOfBytes(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  if (bytes.length > termBytesMax) return longTerm(bytes);
  try {
    return indexTerm(decoder.decode(bytes));
  } catch {
    return null;
  }
}

/** The value of a term. Null: the value is too long for a term. */
export function valueOfTerm(term: string): string | null {
  if (!term.startsWith(escape)) return term;
  return term.startsWith(longMark, escape.length) ? null : term.slice(escape.length);
}

/** The term of an inscription in galleries. */
export const galleryTerm = (id: InscriptionId): string =>
  Buffer.from(inscriptionIdBytes(id)).toString('base64url');

const longTerm = (value: string | Uint8Array): string => `${escape}${longMark}${digestOf(value)}`;
