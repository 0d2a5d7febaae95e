import {
  type BlockColumns,
  decodeBlockColumns,
  type FieldKind,
  fieldKinds,
} from '#indexer/parse/block-columns.ts';
import { type ParseOptions, type ParseResult, parseBlock } from '#indexer/parse/parse-block.ts';
import { propertiesJson } from '#indexer/parse/property-fields.ts';

/** Blocks made for tests, and a block's columns as objects. */

export const testKey = new Uint8Array(32).fill(7);

export function compactSize(size: number): Buffer {
  if (size < 0xfd) return Buffer.from([size]);
  const long = Buffer.alloc(size <= 0xffff ? 3 : 5);
  long[0] = size <= 0xffff ? 0xfd : 0xfe;
  if (size <= 0xffff) long.writeUInt16LE(size, 1);
  else long.writeUInt32LE(size, 1);
  return long;
}

const withSize = (bytes: Uint8Array): Buffer => Buffer.concat([compactSize(bytes.length), bytes]);

export interface TestInput {
  readonly outpoint?: Uint8Array;
  readonly script?: Uint8Array;
  readonly witness?: readonly Uint8Array[];
}
export interface TestOutput {
  readonly value: bigint;
  readonly script?: Uint8Array;
}

const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};

const inputBytes = ({ outpoint, script }: TestInput): Buffer =>
  Buffer.concat([
    outpoint ?? Buffer.alloc(36, 1),
    withSize(script ?? Buffer.alloc(0)),
    Buffer.alloc(4, 0xff),
  ]);

const outputBytes = ({ value, script }: TestOutput): Buffer =>
  Buffer.concat([u64(value), withSize(script ?? Buffer.alloc(0))]);

/** A transaction. Its form has witnesses if any input has one; otherwise it is the legacy form. */
export function transaction(
  inputs: readonly TestInput[],
  outputs: readonly TestOutput[] = [{ value: 0n }],
): Buffer {
  const segwit = inputs.some(({ witness }) => witness !== undefined);
  const witnesses = inputs.map(({ witness = [] }) =>
    Buffer.concat([compactSize(witness.length), ...witness.map(withSize)]),
  );
  return Buffer.concat([
    Buffer.from([2, 0, 0, 0]),
    Buffer.from(segwit ? [0, 1] : []),
    compactSize(inputs.length),
    ...inputs.map(inputBytes),
    compactSize(outputs.length),
    ...outputs.map(outputBytes),
    ...(segwit ? witnesses : []),
    Buffer.alloc(4),
  ]);
}

const nullOutpoint = Buffer.concat([Buffer.alloc(32), Buffer.alloc(4, 0xff)]);

export const coinbase = (
  outputs: readonly TestOutput[] = [{ value: 0n }],
  witness?: readonly Uint8Array[],
): Buffer =>
  transaction([{ outpoint: nullOutpoint, ...(witness === undefined ? {} : { witness }) }], outputs);

/** A block with these transactions, a header of zeros and a coinbase. */
export function blockOf(transactions: readonly Uint8Array[], first: Uint8Array = coinbase()): Uint8Array {
  return Uint8Array.from(
    Buffer.concat([Buffer.alloc(80), compactSize(transactions.length + 1), first, ...transactions]),
  );
}

/** A push of these bytes, in the shortest form. */
export function push(bytes: Uint8Array | string): Buffer {
  const data = Buffer.from(bytes as Uint8Array);
  if (data.length < 0x4c) return Buffer.concat([Buffer.from([data.length]), data]);
  if (data.length <= 0xff) return Buffer.concat([Buffer.from([0x4c, data.length]), data]);
  const length = Buffer.alloc(3, 0x4d);
  length.writeUInt16LE(data.length, 1);
  return Buffer.concat([length, data]);
}

export const tag = (number: number): Buffer => Buffer.from([number]);

/** The script of one envelope with these items. */
export const envelopeScript = (...items: readonly (Uint8Array | string)[]): Buffer =>
  Buffer.concat([Buffer.from([0x00, 0x63]), push('ord'), ...items.map(push), Buffer.from([0x68])]);

/** The script of an envelope with a content type and a body in pushes of 520 bytes. */
export function inscriptionScript(
  type: string,
  body: Uint8Array,
  ...fields: readonly (Uint8Array | string)[]
): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += 520) chunks.push(Buffer.from(body.subarray(at, at + 520)));
  return envelopeScript(tag(1), type, ...fields, '', ...chunks);
}

/** A transaction whose inputs reveal these scripts. */
export const reveal = (...scripts: readonly Uint8Array[]): Buffer =>
  transaction(scripts.map((script) => ({ witness: [script, Buffer.alloc(0)] })));

export const parse = (block: Uint8Array, options: Partial<ParseOptions> = {}): ParseResult =>
  parseBlock(block, { spent: null, fingerprintKey: testKey, ...options });

/** Parses a block, which must succeed, and returns its columns. */
export function columnsOf(block: Uint8Array, options: Partial<ParseOptions> = {}): BlockColumns {
  const result = parse(block, options);
  if (result.kind === 'broken') throw new Error(`${result.code} at ${result.at}: ${result.message}`);
  return decodeBlockColumns(result.columns);
}

export interface ReadContent {
  readonly hash: string;
  readonly body: Buffer;
  readonly variant: number;
  readonly text: number;
  readonly folded: Buffer | null;
  readonly decodedHash: string | null;
}

export interface ReadEnvelope {
  /** Display order. */
  readonly txid: string;
  readonly index: number;
  readonly tx: number;
  readonly input: number;
  readonly flags: number;
  readonly pointer: number;
  readonly type: Buffer | null;
  readonly content: ReadContent | null;
  readonly metadata: string | null;
  readonly fields: Partial<Record<keyof typeof fieldKinds, Buffer>>;
}

const fieldNames = new Map<FieldKind, keyof typeof fieldKinds>(
  Object.entries(fieldKinds).map(([name, kind]) => [kind, name as keyof typeof fieldKinds]),
);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Every envelope of a block, in order, with all of its columns. */
export function readEnvelopes(columns: BlockColumns): ReadEnvelope[] {
  const ranged = (ranges: Uint32Array, index: number): Buffer => {
    const start = ranges[index * 2]!;
    return Buffer.from(columns.arena.subarray(start, start + ranges[index * 2 + 1]!));
  };
  const content = (index: number): ReadContent => ({
    hash: hex(columns.contentHash.subarray(index * 32, index * 32 + 32)),
    body: ranged(columns.contentRange, index),
    variant: columns.contentVariant[index]!,
    text: columns.contentText[index]!,
    folded: columns.contentText[index] === 2 ? ranged(columns.contentFolded, index) : null,
    decodedHash:
      columns.contentDecodedLength[index]! < 0
        ? null
        : hex(columns.contentDecodedHash.subarray(index * 32, index * 32 + 32)),
  });
  const fields = (envelope: number): ReadEnvelope['fields'] => {
    const found: ReadEnvelope['fields'] = {};
    const end = columns.envelopeFirstField[envelope + 1]!;
    for (let row = columns.envelopeFirstField[envelope]!; row < end; row++) {
      const name = fieldNames.get(columns.fieldKind[row] as FieldKind)!;
      if (found[name] !== undefined) throw new Error(`${name} twice`);
      found[name] = ranged(columns.fieldRange, row);
    }
    return found;
  };
  const envelopes: ReadEnvelope[] = [];
  columns.revealTx.forEach((tx, row) => {
    const first = columns.revealFirstEnvelope[row]!;
    const txid = hex(Buffer.from(columns.revealTxid.subarray(row * 32, row * 32 + 32)).reverse());
    for (let envelope = first; envelope < columns.revealFirstEnvelope[row + 1]!; envelope++) {
      const type = columns.envelopeType[envelope]!;
      const contentIndex = columns.envelopeContent[envelope]!;
      const metadata = columns.envelopeMetadata[envelope]!;
      envelopes.push({
        txid,
        index: envelope - first,
        tx,
        input: columns.envelopeInput[envelope]!,
        flags: columns.envelopeFlags[envelope]!,
        pointer: columns.envelopePointer[envelope]!,
        type: type < 0 ? null : ranged(columns.typeRange, type),
        content: contentIndex < 0 ? null : content(contentIndex),
        metadata: metadata < 0 ? null : ranged(columns.metadataRange, metadata).toString(),
        fields: fields(envelope),
      });
    }
  });
  return envelopes;
}

/** The properties of an envelope as ord shows them; `undefined` if the envelope has none. */
export function shownProperties({ fields }: Pick<ReadEnvelope, 'fields'>): string | undefined {
  const { attributes, galleryIds, galleryAttributes } = fields;
  const none = Buffer.alloc(0);
  return attributes === undefined
    ? undefined
    : propertiesJson({ attributes, ids: galleryIds ?? none, itemAttributes: galleryAttributes ?? none });
}
