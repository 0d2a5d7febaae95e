import { type ColumnsOf, decodeColumns, encodeColumns } from './column-buffer.ts';

/**
 * A parsed block as flat columns in one buffer: what a worker hands to the main thread.
 * ./column-buffer.ts has the layout.
 *
 * Conventions
 * - "ranges" are pairs (offset, length) into `arena`, which holds every byte that is kept, once.
 * - Sats are exact integers in doubles: consensus bounds them by 2.1e15 < 2^53 (docs/adr/0008); a value above
 *   MAX_MONEY sets `blockFlags.valueOutOfRange` and such a block is refused before it is applied.
 * - Tables: t = transaction, i = input, r = reveal (transaction with an envelope), e = envelope, c = distinct
 *   content within the block, m = distinct metadata text within the block, f = a field that few envelopes have.
 */
const columnTypes = {
  // the block: one element each
  blockFlags: Uint32Array,
  blockHash: Uint8Array, // 32 bytes, internal order
  header: Uint8Array, // 80 bytes

  // t: all transactions, in block order
  txStart: Uint32Array, // byte offset in the block; one element more: the end of the last
  txOutputs: Uint32Array, // byte offset of the outputs' compact size
  txTxid: Uint8Array, // 32 bytes each, internal order; empty where the block was not checked
  txFirstInput: Uint32Array, // index into the input columns; one element more
  txOutputValue: Float64Array, // sum of output values
  txInputValue: Float64Array, // sum of spent values, 0 for the coinbase; NaN where spent outputs are not known

  // i: all inputs of all transactions, in order (the coinbase's too)
  inputFingerprintLow: Uint32Array, // keyed fingerprint of the spent outpoint (parse/outpoint-fingerprint.ts)
  inputFingerprintHigh: Uint32Array,
  inputValue: Float64Array, // NaN where not known

  // r: transactions with at least one envelope (never the coinbase), in block order
  revealTx: Uint32Array, // index of the transaction
  revealTxid: Uint8Array, // 32 bytes each, internal order
  revealFirstEnvelope: Uint32Array, // index into the envelope columns; one element more

  // e: envelopes in the order of (transaction, input, envelope): the order of inscription ids
  envelopeInput: Uint32Array,
  envelopeFlags: Uint16Array, // parse/envelope-flags.ts
  envelopePointer: Float64Array, // valid pointer below 2^53, else NaN (larger ones never are below an output sum)
  envelopeContent: Int32Array, // index into c, -1 without a body
  envelopeType: Int32Array, // index into the content types below, -1 without one
  envelopeMetadata: Int32Array, // index into m, -1 without metadata that decodes
  envelopeFirstField: Uint32Array, // index into f; one element more

  // distinct raw content types of the block
  typeRange: Uint32Array,

  // c
  contentHash: Uint8Array, // sha256 of the body as stored, 32 bytes each
  contentVariant: Uint8Array, // chain.contents.variant
  contentText: Uint8Array, // chain.contents.text
  contentRange: Uint32Array, // the body
  contentFolded: Uint32Array, // range of the folded text where contentText is 2, else (0, 0)
  contentDecodedHash: Uint8Array, // sha256 of the decoded body, 32 bytes each, zeros where there is none
  contentDecodedLength: Int32Array, // -1 where there is none

  // m
  metadataHash: Uint8Array, // sha256 of the canonical JSON text, 32 bytes each
  metadataRange: Uint32Array, // canonical JSON, UTF-8
  metadataFolded: Uint32Array, // folded text where it differs, else (0, 0)

  // f
  fieldKind: Uint8Array, // fieldKinds
  fieldRange: Uint32Array,

  arena: Uint8Array,
} as const;

export type BlockColumns = ColumnsOf<typeof columnTypes>;

/**
 * The kinds of fields in table f. An envelope has at most one field of each kind. docs/schema.md describes the bytes of
 * the first twelve, under the column of the same name.
 */
export const fieldKinds = {
  contentEncoding: 1,
  metaprotocol: 2,
  pointer: 3, // raw
  delegate: 4, // 36 bytes: txid, index little endian
  claimedParents: 5, // 36 bytes each, in order, repeats kept
  metadata: 6, // raw CBOR
  properties: 7, // raw, as in the envelope
  propertyEncoding: 8,
  attributes: 9, // title and traits, JSON as ord shows it; only if properties decode to something
  rune: 10,
  note: 11,
  unknownFields: 12, // compact size, tag, compact size, value, …
  // these also come from properties: parse/property-fields.ts
  searchedTitle: 13,
  searchedTraits: 14,
  galleryIds: 15,
  galleryAttributes: 16,
} as const;
export type FieldKind = (typeof fieldKinds)[keyof typeof fieldKinds];

export const blockFlags = {
  /** The coinbase or a later transaction has an output above MAX_MONEY. */
  valueOutOfRange: 1,
  /** Set if the spent outputs were given. */
  hasSpent: 2,
} as const;

const blockColumnsVersion = 3;

/** Encodes columns into one buffer: `into` if it is large enough (./column-buffer.ts). */
export function encodeBlockColumns(
  columns: BlockColumns,
  into: ArrayBufferLike | null = null,
): ArrayBufferLike {
  return encodeColumns(columnTypes, blockColumnsVersion, columns, into);
}

/** Views of an encoded block. Throws if the buffer is incomplete or of another version. */
export function decodeBlockColumns(buffer: ArrayBufferLike): BlockColumns {
  return decodeColumns(columnTypes, blockColumnsVersion, buffer, 'block columns');
}
