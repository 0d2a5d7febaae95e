import { Encoder } from 'cbor-x';
import { type JsonFault, readJson } from '#kernel/text/read-json.ts';

/** Writes maps with the shortest head, and without cbor-x's own records, so any reader of CBOR can read the result. */
const encoder = new Encoder({ useRecords: false, variableMapSize: true, tagUint8Array: false });

/** Maximum depth of metadata that ord's reader (ciborium) accepts. */
const depthMax = 256;

/** `reasons` are for people. Each reason continues a sentence that begins with the name of the field. */
export type MetadataCbor =
  | { readonly kind: 'cbor'; readonly cbor: Uint8Array }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] };

/**
 * Encodes JSON as CBOR, the form of an inscription's metadata. Refuses values that CBOR or its readers would change: a
 * NUL or half of a surrogate pair in a text or a name, and numbers that lose digits. Whole numbers from -2^63 to 2^64 -
 * 1 are exact.
 */
export function metadataCbor(json: Uint8Array): MetadataCbor {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(json);
  } catch {
    return notJson;
  }
  const read = readJson(text, { wholeNumbers: 'exact', depthMax });
  // copied, because the encoder reuses its buffer
  if (read.kind === 'read') return { kind: 'cbor', cbor: Uint8Array.from(encoder.encode(read.value)) };
  if (read.kind === 'broken') return notJson;
  return { kind: 'refused', reasons: read.faults.map(reasonOf) };
}

const notJson: MetadataCbor = { kind: 'refused', reasons: ['is not JSON in UTF-8'] };

function reasonOf({ path, isName, reason }: JsonFault): string {
  const where = path === '' ? 'its value' : path;
  return `has metadata that cannot be kept: ${isName ? `the name of a field of ${where}` : where} ${reason}`;
}
