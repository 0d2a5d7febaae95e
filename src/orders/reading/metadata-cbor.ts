import { Encoder } from 'cbor-x';

/** Maps with the shortest head, and no records of cbor-x's own: any reader of CBOR reads it. */
const encoder = new Encoder({ useRecords: false, variableMapSize: true, tagUint8Array: false });

/** JSON as CBOR, as an inscription holds its metadata; null where it is not JSON in UTF-8. */
export function metadataCbor(json: Uint8Array): Uint8Array | null {
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(json);
    value = JSON.parse(text, exactIntegers);
  } catch {
    return null;
  }
  // the encoder reuses its buffer
  return Uint8Array.from(encoder.encode(value));
}

const leastInteger = -(2n ** 63n);
const mostInteger = 2n ** 64n - 1n;

/** Whole numbers beyond what a double holds stay exact, as far as CBOR has integers for them. */
function exactIntegers(_name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  if (!/^-?\d{1,20}$/u.test(source)) return value;
  const whole = BigInt(source);
  return whole >= leastInteger && whole <= mostInteger ? whole : value;
}
