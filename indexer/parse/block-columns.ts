/**
 * A parsed block as flat columns in one transferable buffer: what a worker hands to the main thread.
 *
 * Layout (little endian): version u32, number of columns u32, then a directory entry per column
 * (byte offset u32, length in elements u32), in the order of `columnTypes`; then the columns, each aligned to
 * 8 bytes. Decoding makes views and copies nothing.
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

export type ColumnName = keyof typeof columnTypes;
export type BlockColumns = {
  readonly [Name in ColumnName]: InstanceType<(typeof columnTypes)[Name]>;
};

/** What a field of table f is. At most one of a kind an envelope; bytes as docs/schema.md says for the column of that name. */
export const fieldKinds = {
  contentEncoding: 1,
  metaprotocol: 2,
  pointer: 3, // raw
  delegate: 4, // 36 bytes: txid, index little endian
  claimedParents: 5, // 36 bytes each, in order, repeats kept
  metadata: 6, // raw CBOR
  properties: 7, // raw, as in the envelope
  propertyEncoding: 8,
  propertiesJson: 9, // as ord shows it, UTF-8; only where properties are there and decode to something
  rune: 10,
  note: 11,
  unknownFields: 12, // compact size, tag, compact size, value, …
} as const;
export type FieldKind = (typeof fieldKinds)[keyof typeof fieldKinds];

export const blockFlags = {
  /** The coinbase or a later transaction has an output above MAX_MONEY. */
  valueOutOfRange: 1,
  /** Spent outputs were given. */
  hasSpent: 2,
} as const;

export const blockColumnsVersion = 1;

const names = Object.keys(columnTypes) as ColumnName[];
const align = (n: number): number => (n + 7) & ~7;

/**
 * Puts columns into one buffer. The result is to be transferred, not copied. It is `into` where that is large enough
 * (what lies behind the columns, and between them, is then what was there); a new one of just the size otherwise.
 */
export function encodeBlockColumns(columns: BlockColumns, into: ArrayBuffer | null = null): ArrayBuffer {
  let size = align(8 + names.length * 8);
  for (const name of names) size = align(size + columns[name].byteLength);
  const buffer = into !== null && into.byteLength >= size ? into : new ArrayBuffer(size);
  const head = new DataView(buffer);
  head.setUint32(0, blockColumnsVersion, true);
  head.setUint32(4, names.length, true);
  let at = align(8 + names.length * 8);
  names.forEach((name, index) => {
    const column = columns[name];
    head.setUint32(8 + index * 8, at, true);
    head.setUint32(12 + index * 8, column.length, true);
    new Uint8Array(buffer, at, column.byteLength).set(
      new Uint8Array(column.buffer, column.byteOffset, column.byteLength),
    );
    at = align(at + column.byteLength);
  });
  return buffer;
}

/** Views on an encoded block. Throws where the buffer is not one (another version, a torn buffer). */
export function decodeBlockColumns(buffer: ArrayBuffer): BlockColumns {
  const head = new DataView(buffer);
  const version = head.getUint32(0, true);
  if (version !== blockColumnsVersion || head.getUint32(4, true) !== names.length) {
    throw new RangeError(`block columns of version ${version}, expected ${blockColumnsVersion}`);
  }
  const columns: Partial<Record<ColumnName, unknown>> = {};
  names.forEach((name, index) => {
    const View = columnTypes[name];
    columns[name] = new View(
      buffer,
      head.getUint32(8 + index * 8, true),
      head.getUint32(12 + index * 8, true),
    );
  });
  return columns as BlockColumns;
}
