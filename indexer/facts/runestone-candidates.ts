import { type ColumnsOf, decodeColumns, encodeColumns } from '#indexer/parse/column-buffer.ts';
import { HashTree } from '#indexer/source/hash-tree.ts';
import { type BlockLayout, valueLength } from '#indexer/transaction/block-layout.ts';
import { compactSizeLength, knownCompactSize } from '#indexer/transaction/compact-size.ts';
import { addTransaction } from './hash-transactions.ts';

/**
 * Outputs whose script begins with OP_RETURN OP_13, in block order: the fact `runestone-candidates`. The first one of a
 * transaction is its runestone, well formed or not (ord runestone.rs). The rules of runes decide whether it is well
 * formed.
 */
const columnTypes = {
  /** Index of the transaction. The coinbase can have a candidate too. */
  tx: Uint32Array,
  vout: Uint32Array,
  /** Range of the script in the bytes of the block. */
  scriptStart: Uint32Array,
  scriptLength: Uint32Array,
  /** Txid of the transaction, 32 bytes each, taken from the check of the block or hashed here, four at a time. */
  txid: Uint8Array,
} as const;

export type RunestoneCandidates = ColumnsOf<typeof columnTypes>;

const version = 2;
const opReturn = 0x6a;
const op13 = 0x5d;
const hashLength = 32;

/**
 * Reads the candidates of a block from its layout. Cost: one step per output, and one txid per candidate if txids are
 * not known.
 */
export function readRunestoneCandidates(block: Uint8Array, layout: BlockLayout): ArrayBuffer {
  const found: Found = { tx: [], vout: [], scriptStart: [], scriptLength: [] };
  findCandidates(block, layout, found);
  return encodeColumns(columnTypes, version, {
    tx: Uint32Array.from(found.tx),
    vout: Uint32Array.from(found.vout),
    scriptStart: Uint32Array.from(found.scriptStart),
    scriptLength: Uint32Array.from(found.scriptLength),
    txid: txidsOf(block, layout, found.tx),
  });
}

/** The columns without txids. */
type Found = Readonly<Record<Exclude<keyof RunestoneCandidates, 'txid'>, number[]>>;

/**
 * Finds the candidates. The loop has its own function, because V8 compiles it while it runs, and code after the loop
 * would make V8 discard the compiled loop.
 */
function findCandidates(
  block: Uint8Array,
  { outputsAt, transactionCount }: BlockLayout,
  { tx, vout, scriptStart, scriptLength }: Found,
): void {
  for (let place = 0; place < transactionCount; place++) {
    let at = outputsAt[place]!;
    const outputs = knownCompactSize(block, at);
    at += compactSizeLength(block[at]!);
    for (let output = 0; output < outputs; output++) {
      at += valueLength;
      const length = knownCompactSize(block, at);
      at += compactSizeLength(block[at]!);
      if (length > 1 && block[at] === opReturn && block[at + 1] === op13) {
        tx.push(place);
        vout.push(output);
        scriptStart.push(at);
        scriptLength.push(length);
      }
      at += length;
    }
  }
}

const hashes = new HashTree();

/** Txids of transactions by their indexes, 32 bytes each. */
function txidsOf(
  block: Uint8Array,
  layout: BlockLayout,
  transactions: readonly number[],
): Uint8Array<ArrayBuffer> {
  const known = layout.txids;
  if (known !== null) {
    const txids = new Uint8Array(transactions.length * hashLength);
    for (const [row, tx] of transactions.entries())
      txids.set(known.subarray(tx * hashLength, (tx + 1) * hashLength), row * hashLength);
    return txids;
  }
  hashes.reset(transactions.length);
  for (const [leaf, tx] of transactions.entries()) addTransaction(hashes, leaf, block, layout, tx);
  hashes.flush();
  return hashes.leaves.slice(0, transactions.length * hashLength);
}

/** Views of an encoded result. */
export const openRunestoneCandidates = (buffer: ArrayBuffer): RunestoneCandidates =>
  decodeColumns(columnTypes, version, buffer, 'runestone candidates');
