import {
  BlockLayout,
  headerLength,
  lockTimeLength,
  versionLength,
} from '#indexer/transaction/block-layout.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { expandFingerprintKey, type FingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { type BrokenBlock, readLayout } from '#indexer/transaction/read-layout.ts';
import { maxMoney } from '#kernel/bitcoin/consensus.ts';
import { copyBytes } from '#kernel/copy-bytes.ts';
import { type BlockColumns, blockFlags, encodeBlockColumns } from './block-columns.ts';
import { BlockTables } from './block-tables.ts';
import { ContentCollector } from './content-collector.ts';
import { DerivedBudget } from './derived-budget.ts';
import { EnvelopeReader } from './envelope.ts';
import { findEnvelopes, fingerprintInputs } from './find-envelopes.ts';
import { Sha256Lanes } from './sha256/sha256-lanes.ts';
import { readSpentOutputs } from './spent-outputs.ts';
import { ScriptScan } from './witness-script.ts';

export interface ParseOptions {
  /** Outputs that the block spends, in the encoding of `SourceBlock.spentOutputs`. Null: unknown. */
  readonly spent: Uint8Array | null;
  /** 32 secret bytes (`chain.state.fingerprint_key`). */
  readonly fingerprintKey: Uint8Array;
  /** Maximum length in bytes of a decoded text that is made searchable. Absent: `searchableBytesMaxDefault`. */
  readonly textMaxBytes?: number;
  /**
   * A buffer that may be overwritten, such as the columns of an earlier block. If it is large enough, the columns are
   * written there. To zero, fault in and collect a new buffer costs a tenth of a parse.
   */
  readonly into?: ArrayBufferLike | null;
  /** The layout of this block, if it was already read. */
  readonly layout?: BlockLayout;
}

/** The length of the longest possible body, so all texts are searchable unless an operator sets less. */
export const searchableBytesMaxDefault = 4_000_000;

export type ParseResult =
  | { readonly kind: 'parsed'; readonly columns: ArrayBufferLike }
  | {
      readonly kind: 'broken';
      readonly code: BrokenBlock['code'] | 'spent_outputs_mismatch';
      /** Byte offset of the failure, in the block or in its spent outputs. */
      readonly at: number;
      readonly message: string;
    };

const hashLength = 32;

// Maximum sizes of a parser that is kept: more memory than any honest block needs. A parser that grew larger is
// dropped, so that an unusual block takes its memory only once.
const keptArenaMax = 16 << 20;
const keptEnvelopesMax = 1 << 16;
const keptItemsMax = 1 << 17;

/** The reusable state of a parse: a few MB per thread. */
class BlockParser {
  readonly #layout = new BlockLayout();
  readonly #tables = new BlockTables();
  readonly #scan = new ScriptScan();
  readonly #budget = new DerivedBudget();
  readonly #contents: ContentCollector;
  readonly #reader: EnvelopeReader;
  readonly #lanes = new Sha256Lanes(this.#tables.reveals, true);
  #keyBytes: Buffer | null = null;
  #key: FingerprintKey = { words: new Int32Array(0) };
  #scratch = new Uint8Array(1 << 12);

  constructor() {
    this.#contents = new ContentCollector(this.#tables.contents, this.#tables.arena, this.#budget);
    this.#reader = new EnvelopeReader(this.#tables, this.#contents, this.#budget);
  }

  parse(block: Uint8Array, options: ParseOptions): ParseResult {
    this.#reset(options);
    const tables = this.#tables;
    const layout = options.layout ?? this.#layout;
    const broken = options.layout === undefined ? readLayout(block, layout) : null;
    if (broken !== null) return { kind: 'broken', ...broken };
    if (layout.maxOutputValue > maxMoney) tables.flags |= blockFlags.valueOutOfRange;
    const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    fingerprintInputs(view, layout, tables.inputs, this.#key);
    findEnvelopes(block, view, layout, tables, this.#scan, this.#reader);
    const mismatch = this.#fillValues(options.spent, layout);
    if (mismatch !== null) return { kind: 'broken', ...mismatch };
    this.#contents.finish();
    this.#hashReveals(block, layout);
    const header = block.slice(0, headerLength);
    return { kind: 'parsed', columns: encodeBlockColumns(columnsOf(tables, layout, header), options.into) };
  }

  get isOutgrown(): boolean {
    const { arena, envelopes } = this.#tables;
    return (
      arena.bytes.length > keptArenaMax ||
      envelopes.input.length > keptEnvelopesMax ||
      this.#scan.itemStart.length > keptItemsMax
    );
  }

  #reset(options: ParseOptions): void {
    if (this.#keyBytes?.equals(options.fingerprintKey) !== true) {
      this.#key = expandFingerprintKey(options.fingerprintKey);
      this.#keyBytes = Buffer.from(options.fingerprintKey);
    }
    this.#tables.reset();
    this.#lanes.reset();
    this.#budget.reset();
    this.#reader.reset();
    this.#contents.reset(this.#key.words[0]!, options.textMaxBytes ?? searchableBytesMaxDefault);
  }

  #fillValues(spent: Uint8Array | null, layout: BlockLayout): ReturnType<typeof readSpentOutputs> {
    const { transactions, inputs } = this.#tables;
    const { transactionCount, inputCount } = layout;
    const unknown = spent === null ? Number.NaN : 0;
    transactions.reserve(transactionCount);
    transactions.inputValue.fill(unknown, 0, transactionCount);
    inputs.value.fill(unknown, 0, inputCount);
    // a coinbase spends nothing, whether or not the other values are known
    if (transactionCount > 0) {
      transactions.inputValue[0] = 0;
      inputs.value.fill(0, 0, layout.firstInput[1]);
    }
    if (spent === null) return null;
    this.#tables.flags |= blockFlags.hasSpent;
    return readSpentOutputs(spent, layout, this.#tables);
  }

  /**
   * Hashes the txids of reveals. A txid is the hash of a transaction without its witness, so the pieces around the
   * witness are concatenated.
   */
  #hashReveals(block: Uint8Array, layout: BlockLayout): void {
    const { reveals } = this.#tables;
    const lanes = this.#lanes;
    const { txids } = layout;
    for (let row = 0; row < reveals.length; row++) {
      const tx = reveals.tx[row]!;
      if (txids !== null) {
        copyBytes(txids, tx * hashLength, hashLength, reveals.hash, row * hashLength);
        continue;
      }
      const start = layout.start[tx]!;
      const from = layout.inputsAt[tx]!;
      const middle = layout.outputsEnd[tx]! - from;
      const end = layout.start[tx + 1]!;
      const size = versionLength + middle + lockTimeLength;
      const isShort = Sha256Lanes.takes(size);
      const target = isShort ? lanes.bytes : this.#room(size);
      const at = isShort ? lanes.begin(size, row) : 0;
      copyBytes(block, start, versionLength, target, at);
      copyBytes(block, from, middle, target, at + versionLength);
      copyBytes(block, end - lockTimeLength, lockTimeLength, target, at + versionLength + middle);
      if (isShort) lanes.commit();
      else reveals.hash.set(doubleSha256(target.subarray(0, size)), row * hashLength);
    }
    lanes.flush();
  }

  #room(size: number): Uint8Array {
    if (size > this.#scratch.length) this.#scratch = new Uint8Array(size * 2);
    return this.#scratch;
  }
}

function columnsOf(tables: BlockTables, layout: BlockLayout, header: Uint8Array<ArrayBuffer>): BlockColumns {
  const { transactionCount, inputCount } = layout;
  const { transactions, inputs, reveals, envelopes, contents, metadata, fields, types, arena } = tables;
  reveals.firstEnvelope[reveals.length] = envelopes.length;
  envelopes.firstField[envelopes.length] = fields.length;
  return {
    blockFlags: Uint32Array.of(tables.flags),
    blockHash: Uint8Array.from(doubleSha256(header)),
    header,
    txStart: layout.start.subarray(0, transactionCount + 1),
    txOutputs: layout.outputsAt.subarray(0, transactionCount),
    txTxid: layout.txids ?? new Uint8Array(0),
    txFirstInput: layout.firstInput.subarray(0, transactionCount + 1),
    txOutputValue: layout.outputValue.subarray(0, transactionCount),
    txInputValue: transactions.inputValue.subarray(0, transactionCount),
    inputFingerprintLow: inputs.fingerprintLow.subarray(0, inputCount),
    inputFingerprintHigh: inputs.fingerprintHigh.subarray(0, inputCount),
    inputValue: inputs.value.subarray(0, inputCount),
    revealTx: reveals.tx.subarray(0, reveals.length),
    revealTxid: reveals.hash.subarray(0, reveals.length * hashLength),
    revealFirstEnvelope: reveals.firstEnvelope.subarray(0, reveals.length + 1),
    envelopeInput: envelopes.input.subarray(0, envelopes.length),
    envelopeFlags: envelopes.flags.subarray(0, envelopes.length),
    envelopePointer: envelopes.pointer.subarray(0, envelopes.length),
    envelopeContent: envelopes.content.subarray(0, envelopes.length),
    envelopeType: envelopes.type.subarray(0, envelopes.length),
    envelopeMetadata: envelopes.metadata.subarray(0, envelopes.length),
    envelopeFirstField: envelopes.firstField.subarray(0, envelopes.length + 1),
    typeRange: types.range.subarray(0, types.length * 2),
    contentHash: contents.hash.subarray(0, contents.length * 32),
    contentVariant: contents.variant.subarray(0, contents.length),
    contentText: contents.text.subarray(0, contents.length),
    contentRange: contents.range.subarray(0, contents.length * 2),
    contentFolded: contents.folded.subarray(0, contents.length * 2),
    contentDecodedHash: contents.decodedHash.subarray(0, contents.length * 32),
    contentDecodedLength: contents.decodedLength.subarray(0, contents.length),
    metadataHash: metadata.hash.subarray(0, metadata.length * 32),
    metadataRange: metadata.range.subarray(0, metadata.length * 2),
    metadataFolded: metadata.folded.subarray(0, metadata.length * 2),
    fieldKind: fields.kind.subarray(0, fields.length),
    fieldRange: fields.range.subarray(0, fields.length * 2),
    arena: arena.bytes.subarray(0, arena.length),
  };
}

let parser: BlockParser | null = null;

/**
 * Parses a block: bytes in, encoded columns out (decodeBlockColumns reads them). Pure and total: the same input gives
 * the same columns, and any bytes give a result, in time and memory linear in the block (./derived-budget.ts bounds
 * decoded bytes). The buffers belong to this thread and are reused for the next block.
 */
export function parseBlock(block: Uint8Array, options: ParseOptions): ParseResult {
  parser ??= new BlockParser();
  // use one kind of array in the hot loops, because Buffer is another class for the compiler
  const bytes = new Uint8Array(block.buffer, block.byteOffset, block.byteLength);
  const result = parser.parse(bytes, options);
  if (parser.isOutgrown) parser = null;
  return result;
}
