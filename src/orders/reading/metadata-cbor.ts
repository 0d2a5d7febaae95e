import { Encoder } from 'cbor-x';
import { type JsonFault, readJson } from '#kernel/text/read-json.ts';

/** Maps with the shortest head, and without cbor-x's own records: any reader of CBOR reads the result. */
const encoder = new Encoder({ useRecords: false, variableMapSize: true, tagUint8Array: false });

/** Depth up to which ord's reader (ciborium) accepts metadata. */
const depthMax = 256;

/** `reasons` are for people; each continues a sentence that begins with the name of the field. */
export type MetadataCbor =
  | { readonly kind: 'cbor'; readonly cbor: Uint8Array }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] };

/**
 * JSON as CBOR, the form of an inscription's metadata. Values that CBOR or its readers would change are refused: a NUL
 * or half of a surrogate pair in a text or a name, and numbers that lose digits. Whole numbers from -2^63 to 2^64 - 1
 * are exact.
 */
export function metadataCbor(json: Uint8Array): MetadataCbor {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(json);
  } catch {
    return notJson;
  }
  const read = readJson(text, { wholeNumbers: 'exact', depthMax });
  // the encoder reuses its buffer
  if (read.kind === 'read') return { kind: 'cbor', cbor: Uint8Array.from(encoder.encode(read.value)) };
  if (read.kind === 'broken') return notJson;
  return { kind: 'refused', reasons: read.faults.map(reasonOf) };
}

const notJson: MetadataCbor = { kind: 'refused', reasons: ['does not hold JSON in UTF-8'] };

function reasonOf({ path, isName, reason }: JsonFault): string {
  const where = path === '' ? 'its value' : path;
  return `does not hold metadata that can be kept: ${isName ? `the name of a field of ${where}` : where} ${reason}`;
}
