import { openSpentScripts, readSpentScripts, type SpentScripts } from '#indexer/facts/spent-scripts.ts';
import { type BlockColumns, decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { BlockLayout, headerLength, oneTransaction } from '#indexer/transaction/block-layout.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { strippedHash, transactionId } from '#indexer/transaction/transaction-id.ts';
import { hasMarker, InputWalk, OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { type Sats, trustedSats } from '#kernel/primitives/sats.ts';

/**
 * Loose transactions, read by the parser of blocks. They are put after a header of zeros and an empty coinbase, so that
 * the same code reads pending and mined inscriptions.
 */

// a coinbase that spends the null outpoint with an empty script, and has no value
const coinbase = Buffer.from(
  `0100000001${'00'.repeat(32)}ffffffff00ffffffff01${'00'.repeat(8)}0000000000`,
  'hex',
);
const countLength = 5;
/** Index of the first transaction, after the coinbase. */
const firstTransaction = 1;

/** An output of a transaction. */
export interface TransactionOutput {
  readonly vout: number;
  readonly value: Sats;
  readonly script: Uint8Array;
}

/** The output that an input spends. */
export interface SpentCoin {
  readonly value: Sats;
  readonly script: Uint8Array;
}

/** A spent output as the node returns it. */
export interface SpentOutput extends SpentCoin {
  /** 0 if its transaction is pending. */
  readonly confirmations: number;
}

/** Layout of the current block. */
const blockLayout = new BlockLayout();

/** The transactions of a block, or of a batch in the form of a block. The coinbase has index 0. */
export class TransactionBatch {
  readonly columns: BlockColumns;
  readonly bytes: Uint8Array;
  readonly #inputWalk: InputWalk;
  readonly #outputWalk: OutputWalk;
  readonly #spent: SpentScripts | null;
  readonly #rowOfReveal = new Map<number, number>();

  private constructor(bytes: Uint8Array, columns: BlockColumns, spent: SpentScripts | null) {
    this.bytes = bytes;
    this.columns = columns;
    this.#spent = spent;
    this.#inputWalk = new InputWalk(bytes);
    this.#outputWalk = new OutputWalk(bytes);
    this.columns.revealTx.forEach((tx, row) => this.#rowOfReveal.set(tx, row));
  }

  /**
   * The transactions of a block. Null: the bytes are not a block, or `spent` does not match the block.
   *
   * @param spent spent outputs in the encoding of `SourceBlock.spentOutputs`; null: unknown
   */
  static ofBlock(
    block: Uint8Array,
    spent: Uint8Array | null,
    fingerprintKey: Uint8Array,
    textMaxBytes: number,
  ): TransactionBatch | null {
    const bytes = new Uint8Array(block.buffer, block.byteOffset, block.byteLength);
    if (readLayout(bytes, blockLayout) !== null) return null;
    const result = parseBlock(bytes, { spent, fingerprintKey, textMaxBytes, layout: blockLayout });
    if (result.kind !== 'parsed') return null;
    const columns = decodeBlockColumns(result.columns);
    const scripts =
      spent === null
        ? null
        : openSpentScripts(readSpentScripts(spent, blockLayout), spent, columns.inputValue);
    return new TransactionBatch(bytes, columns, scripts);
  }

  /**
   * Transactions at the indices 1, 2, … in the given order. Returns null if one of them is not a transaction, or if
   * they exceed `batchBytesMax` bytes.
   */
  static of(
    transactions: readonly Uint8Array[],
    fingerprintKey: Uint8Array,
    textMaxBytes: number,
  ): TransactionBatch | null {
    const header = Buffer.alloc(headerLength);
    const parts = [header, countBytes(transactions.length + firstTransaction), coinbase, ...transactions];
    return TransactionBatch.ofBlock(Buffer.concat(parts), null, fingerprintKey, textMaxBytes);
  }

  get count(): number {
    return this.columns.txOutputs.length;
  }

  /** Virtual size (BIP 141), in vbytes rounded up. */
  vsize(tx: number): number {
    const start = this.columns.txStart[tx]!;
    const end = this.columns.txStart[tx + 1]!;
    const size = end - start;
    if (!hasMarker(this.bytes, start)) return size;
    this.#outputWalk.open(this.columns.txOutputs[tx]!);
    const stripped = this.#outputWalk.end() - start - 2 + 4;
    return Math.ceil((stripped * 3 + size) / 4);
  }

  txid(tx: number): Txid {
    const reveal = this.reveal(tx);
    if (reveal >= 0) return trustedTxid(this.columns.revealTxid.slice(reveal * 32, reveal * 32 + 32));
    const { txStart, txOutputs } = this.columns;
    const [start, end] = [txStart[tx]!, txStart[tx + 1]!];
    return trustedTxid(Uint8Array.from(transactionId(this.bytes, start, txOutputs[tx]!, end)));
  }

  /** Row of the transaction among the reveals. -1: the transaction has no envelope. */
  reveal(tx: number): number {
    return this.#rowOfReveal.get(tx) ?? -1;
  }

  inputCount(tx: number): number {
    return this.columns.txFirstInput[tx + 1]! - this.columns.txFirstInput[tx]!;
  }

  /** The output that an input spends. Null: unknown. */
  spentCoin(tx: number, input: number): SpentCoin | null {
    const spent = this.#spent;
    if (spent === null) return null;
    const at = this.columns.txFirstInput[tx]! + input;
    const start = spent.scriptStart[at]!;
    const script = spent.bytes.subarray(start, start + spent.scriptLength[at]!);
    return { value: trustedSats(spent.value[at]!), script };
  }

  /** The 36 bytes of every outpoint that a transaction spends, concatenated. */
  outpoints(tx: number): Buffer {
    const count = this.inputCount(tx);
    const all = Buffer.alloc(count * 36);
    this.#inputWalk.open(this.columns.txStart[tx]!);
    for (let input = 0; input < count; input++) {
      const at = this.#inputWalk.outpointOf(input);
      all.set(this.bytes.subarray(at, at + 36), input * 36);
    }
    return all;
  }

  outputs(tx: number): TransactionOutput[] {
    const all: TransactionOutput[] = [];
    const walk = this.#outputWalk;
    walk.open(this.columns.txOutputs[tx]!);
    while (walk.next()) {
      const script = this.bytes.subarray(walk.scriptStart, walk.scriptStart + walk.scriptLength);
      all.push({ vout: walk.vout, value: trustedSats(walk.value), script });
    }
    return all;
  }
}

/** A count as a compact size, in any width that fits. */
function countBytes(count: number): Buffer {
  if (count < 0xfd) return Buffer.of(count);
  const bytes = Buffer.alloc(count <= 0xffff ? 3 : countLength);
  bytes[0] = count <= 0xffff ? 0xfd : 0xfe;
  if (count <= 0xffff) bytes.writeUInt16LE(count, 1);
  else bytes.writeUInt32LE(count, 1);
  return bytes;
}

/** Layout of the current transaction. */
const oneLayout = new BlockLayout(oneTransaction);

/**
 * The txid (internal order) of the single transaction in the bytes. Null if the bytes are not exactly one transaction.
 */
export function txidOfBytes(bytes: Uint8Array): Txid | null {
  if (oneLayout.readTransaction(bytes, 0) !== bytes.length || oneLayout.emptyWitnessAt >= 0) return null;
  return trustedTxid(Uint8Array.from(strippedHash(bytes, 0, oneLayout.outputsEnd[0]!, bytes.length)));
}
