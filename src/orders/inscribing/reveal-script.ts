import assert from 'node:assert/strict';
import { pushPrefix } from '#kernel/bitcoin/script-push.ts';
import { envelopeTags as tags } from '#kernel/primitives/envelope-tag.ts';
import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';

/** Fields of an envelope. Absent fields have no tag; an absent body has no body tag. */
export interface EnvelopeFields {
  readonly contentType: string | null;
  readonly body: Uint8Array | null;
  readonly contentEncoding: string | null;
  readonly metaprotocol: string | null;
  /** Metadata as CBOR. */
  readonly metadata: Uint8Array | null;
  readonly delegate: InscriptionId | null;
  /** Ids of the parents, in the sequence in which the inscription shows them. */
  readonly parents: readonly InscriptionId[];
  /** Position of the sat to which the inscription moves, counted from the first sat of all outputs. */
  readonly pointer: bigint | null;
  /** The push that claims the name of a rune (`runeCommitment`). */
  readonly rune: Uint8Array | null;
}

/** Lengths of an envelope's fields in bytes. The lengths are enough to plan a transaction. */
export interface EnvelopeLengths {
  readonly contentType: number | null;
  readonly body: number | null;
  readonly contentEncoding: number | null;
  readonly metaprotocol: number | null;
  readonly metadata: number | null;
  readonly delegate: number | null;
  readonly parents: readonly number[];
  readonly pointer: number | null;
  readonly rune: number | null;
}

/** Fields that curse an envelope by ord's rules before the jubilee (inscription_updater.rs). */
export type UncurseFault = 'pointer' | 'metadata' | 'parents';

/** Maximum length of a push in a tapscript that nodes relay, in bytes (Bitcoin Core's MAX_SCRIPT_ELEMENT_SIZE). */
export const pushBytesMax = 520;
/** Length of `<x-only key> OP_CHECKSIG` before the envelopes, in bytes. */
const lockBytes = 1 + 32 + 1;
/** Length of OP_FALSE OP_IF "ord" and OP_ENDIF around the fields of an envelope, in bytes. */
const frameBytes = 1 + 1 + 4 + 1;
/** Length of OP_FALSE OP_IF and OP_ENDIF around the claim of a name in a leaf without envelopes, in bytes. */
const claimFrameBytes = 1 + 1 + 1;
/**
 * Length of the tag of a field, in bytes. A tag is always a data push of one byte, because OP_1 to OP_16 would cause
 * the curse `pushnum`.
 */
const tagBytes = 2;

const opFalse = 0x00;
const opIf = 0x63;
const opEndIf = 0x68;
const opCheckSig = 0xac;
const protocolId = Uint8Array.of(0x03, 0x6f, 0x72, 0x64);

/**
 * The leaf of a reveal: the key that must sign, then one envelope for each inscription. ord reads exactly these fields
 * (indexer/parse). Invariant: the leaf has the length that `revealScriptBytes` computes.
 *
 * @param claim push that claims a rune name, for a leaf without envelopes; null if the leaf claims no name
 */
export function revealScript(
  key: Uint8Array,
  envelopes: readonly EnvelopeFields[],
  claim: Uint8Array | null = null,
): Uint8Array {
  assert(key.length === 32, `an x-only key of ${key.length} bytes`);
  const script = new Uint8Array(revealScriptBytes(envelopes.map(lengthsOf), claim?.length ?? null));
  const out = new ScriptWriter(script);
  out.push(key);
  out.opcodes(opCheckSig);
  if (claim !== null) {
    // nodes skip this part, so they do not require a minimal push here, and any name can be a data push
    out.opcodes(opFalse, opIf);
    out.push(claim);
    out.opcodes(opEndIf);
  }
  for (const envelope of envelopes) writeEnvelope(out, envelope);
  assert(out.length === script.length, `a script of ${out.length} bytes, not ${script.length}`);
  return script;
}

/**
 * Length in bytes of a leaf with these envelopes and a claim of `claim` bytes. `claim` is null if the leaf has no
 * claim.
 */
export function revealScriptBytes(
  envelopes: readonly EnvelopeLengths[],
  claim: number | null = null,
): number {
  const claiming = claim === null ? 0 : claimFrameBytes + pushBytes(claim);
  return envelopes.reduce((sum, envelope) => sum + envelopeBytes(envelope), lockBytes + claiming);
}

/** Length of an envelope in its script, in bytes. */
export function envelopeBytes(lengths: EnvelopeLengths): number {
  const { body, metadata, parents } = lengths;
  let bytes = frameBytes;
  for (const name of singleFields) {
    const length = lengths[name];
    if (length !== null) bytes += tagBytes + pushBytes(length);
  }
  for (const parent of parents) bytes += tagBytes + pushBytes(parent);
  if (metadata !== null) bytes += chunksOf(metadata) * tagBytes + chunkBytes(metadata);
  if (body !== null) bytes += 1 + chunkBytes(body);
  return bytes;
}

/** Fields that need exactly one push. */
const singleFields = [
  'contentType',
  'contentEncoding',
  'metaprotocol',
  'delegate',
  'pointer',
  'rune',
] as const;

/** Lengths of the encoded fields of an envelope, in bytes. */
export function lengthsOf(fields: EnvelopeFields): EnvelopeLengths {
  return {
    contentType: textBytes(fields.contentType),
    body: fields.body === null ? null : fields.body.length,
    contentEncoding: textBytes(fields.contentEncoding),
    metaprotocol: textBytes(fields.metaprotocol),
    metadata: fields.metadata === null ? null : fields.metadata.length,
    delegate: fields.delegate === null ? null : idField(fields.delegate).length,
    parents: fields.parents.map((parent) => idField(parent).length),
    pointer: fields.pointer === null ? null : pointerField(fields.pointer).length,
    rune: fields.rune?.length ?? null,
  };
}

/** The field that makes an envelope cursed in any input; null if there is no such field. */
export function uncurseFault(
  lengths: Pick<EnvelopeLengths, 'pointer' | 'metadata' | 'parents'>,
): UncurseFault | null {
  if (lengths.pointer !== null) return 'pointer';
  if ((lengths.metadata ?? 0) > pushBytesMax) return 'metadata';
  return lengths.parents.length > 1 ? 'parents' : null;
}

/**
 * Encodes an inscription id as the value of a field (ord inscription_id.rs): the txid in internal byte order, then the
 * index in little endian without trailing zero bytes.
 */
export function idField(id: InscriptionId): Uint8Array {
  return withoutLastZeros(inscriptionIdBytes(id), 32);
}

/**
 * Encodes a pointer as the value of a field (ord inscription.rs, `pointer_value`): little endian without trailing zero
 * bytes.
 */
export function pointerField(pointer: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, pointer, true);
  return withoutLastZeros(bytes, 0);
}

function withoutLastZeros(bytes: Uint8Array, least: number): Uint8Array {
  let { length } = bytes;
  while (length > least && bytes[length - 1] === 0) length--;
  return bytes.subarray(0, length);
}

function writeEnvelope(out: ScriptWriter, fields: EnvelopeFields): void {
  out.opcodes(opFalse, opIf, ...protocolId);
  out.text(tags.contentType, fields.contentType);
  out.text(tags.contentEncoding, fields.contentEncoding);
  out.text(tags.metaprotocol, fields.metaprotocol);
  for (const parent of fields.parents) out.field(tags.parent, idField(parent));
  if (fields.delegate !== null) out.field(tags.delegate, idField(fields.delegate));
  if (fields.pointer !== null) out.field(tags.pointer, pointerField(fields.pointer));
  if (fields.rune !== null) out.field(tags.rune, fields.rune);
  if (fields.metadata !== null) {
    for (const chunk of chunks(fields.metadata)) out.field(tags.metadata, chunk);
  }
  if (fields.body !== null) {
    out.opcodes(opFalse);
    for (const chunk of chunks(fields.body)) out.push(chunk);
  }
  out.opcodes(opEndIf);
}

class ScriptWriter {
  readonly #bytes: Uint8Array;
  length = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  opcodes(...opcodes: readonly number[]): void {
    this.#bytes.set(opcodes, this.length);
    this.length += opcodes.length;
  }

  push(value: Uint8Array): void {
    assert(value.length <= pushBytesMax, `a push of ${value.length} bytes`);
    // an empty push is OP_0
    this.opcodes(...(value.length === 0 ? [opFalse] : pushPrefix(value.length)));
    this.#bytes.set(value, this.length);
    this.length += value.length;
  }

  field(tag: number, value: Uint8Array): void {
    this.push(Uint8Array.of(tag));
    this.push(value);
  }

  text(tag: number, value: string | null): void {
    if (value !== null) this.field(tag, Buffer.from(value));
  }
}

const textBytes = (text: string | null): number | null => (text === null ? null : Buffer.byteLength(text));

/**
 * Length of a push with its opcode, in bytes. Same result as with `pushPrefix`, but creates no bytes. An empty push is
 * OP_0.
 */
const pushBytes = (length: number): number => length + (length < 0x4c ? 1 : length <= 0xff ? 2 : 3);

const chunksOf = (length: number): number => Math.ceil(length / pushBytesMax);

/** Length of all pushes of a value, in bytes. The value is cut into pushes of the maximum length. */
function chunkBytes(length: number): number {
  const last = length % pushBytesMax;
  return Math.floor(length / pushBytesMax) * pushBytes(pushBytesMax) + (last === 0 ? 0 : pushBytes(last));
}

function* chunks(value: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < value.length; at += pushBytesMax) yield value.subarray(at, at + pushBytesMax);
}
