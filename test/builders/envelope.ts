import type { ByteWriter } from './byte-writer.ts';

/** Tags of ord's envelope fields that generators write. */
export const tag = {
  contentType: 1,
  pointer: 2,
  parent: 3,
  metadata: 5,
  metaprotocol: 7,
  contentEncoding: 9,
  delegate: 11,
  rune: 13,
  note: 15,
  properties: 17,
} as const;

/** The content of an envelope: fields in their order, and the body. The body is null if there is none. */
export interface Envelope {
  readonly fields: readonly (readonly [tag: number, value: Uint8Array])[];
  readonly body: Uint8Array | null;
}

const pushMaxBytes = 520; // consensus bound of a pushed element
const opFalse = 0x00;
const opIf = 0x63;
const opEndIf = 0x68;
const protocol = Buffer.from('ord');

export function writePush(out: ByteWriter, bytes: Uint8Array): void {
  if (bytes.length <= 75) out.u8(bytes.length);
  else if (bytes.length <= 255) {
    out.u8(0x4c);
    out.u8(bytes.length);
  } else {
    out.u8(0x4d);
    out.u8(bytes.length & 0xff);
    out.u8(bytes.length >> 8);
  }
  out.set(bytes);
}

/**
 * Writes a field. If the value is above the bound of a push, the field is repeated, because ord joins metadata and
 * properties from all repetitions.
 */
function writeField(out: ByteWriter, field: number, value: Uint8Array): void {
  for (let at = 0; at === 0 || at < value.length; at += pushMaxBytes) {
    out.u8(1);
    out.u8(field);
    writePush(out, value.subarray(at, at + pushMaxBytes));
  }
}

/** Writes OP_FALSE OP_IF "ord", the fields, OP_0 and the body, OP_ENDIF. */
export function writeEnvelope(out: ByteWriter, { fields, body }: Envelope): void {
  out.u8(opFalse);
  out.u8(opIf);
  writePush(out, protocol);
  for (const [field, value] of fields) writeField(out, field, value);
  if (body !== null) {
    out.u8(opFalse);
    for (let at = 0; at < body.length; at += pushMaxBytes)
      writePush(out, body.subarray(at, at + pushMaxBytes));
  }
  out.u8(opEndIf);
}

/** The value of a field with an inscription id: txid, and the index without its trailing zeros. */
export function inscriptionReference(txid: Uint8Array, index: number): Uint8Array {
  return Buffer.concat([txid, littleEndian(index)]);
}

/** A number without its trailing zero bytes. An index and a pointer have this encoding. */
export function littleEndian(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  return Buffer.from(bytes);
}
