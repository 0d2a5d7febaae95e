import { type ColumnsOf, decodeColumns, encodeColumns } from '#indexer/parse/column-buffer.ts';
import { HashTree } from '#indexer/source/hash-tree.ts';
import { type BlockLayout, valueLength } from '#indexer/transaction/block-layout.ts';
import { compactSizeLength, knownCompactSize } from '#indexer/transaction/compact-size.ts';
import { copyBytes } from '#kernel/copy-bytes.ts';
import { withRoom } from '#kernel/growable.ts';
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
  found.count = 0;
  findCandidates(block, layout);
  const tx = found.tx.subarray(0, found.count);
  const encoded = encodeColumns(columnTypes, version, {
    tx,
    vout: found.vout.subarray(0, found.count),
    scriptStart: found.scriptStart.subarray(0, found.count),
    scriptLength: found.scriptLength.subarray(0, found.count),
    txid: txidsOf(block, layout, tx),
  });
  if (found.tx.length > keptCandidatesMax) found = new FoundCandidates();
  return encoded;
}

/** Maximum number of candidates whose room is kept for the next block. A block of mainnet has a few thousand. */
const keptCandidatesMax = 1 << 16;
const firstCandidates = 1 << 12;

/** The columns without txids, in memory that is reused for the next block. */
class FoundCandidates {
  count = 0;
  tx = new Uint32Array(firstCandidates);
  vout = new Uint32Array(firstCandidates);
  scriptStart = new Uint32Array(firstCandidates);
  scriptLength = new Uint32Array(firstCandidates);

  add(tx: number, vout: number, scriptStart: number, scriptLength: number): void {
    const place = this.count++;
    if (place === this.tx.length) this.#grow();
    this.tx[place] = tx;
    this.vout[place] = vout;
    this.scriptStart[place] = scriptStart;
    this.scriptLength[place] = scriptLength;
  }

  #grow(): void {
    this.tx = withRoom(this.tx, this.count);
    this.vout = withRoom(this.vout, this.count);
    this.scriptStart = withRoom(this.scriptStart, this.count);
    this.scriptLength = withRoom(this.scriptLength, this.count);
  }
}

let found = new FoundCandidates();

/**
 * Finds the candidates. The loop has its own function, because V8 compiles it while it runs, and code after the loop
 * would make V8 discard the compiled loop.
 */
function findCandidates(block: Uint8Array, { outputsAt, transactionCount }: BlockLayout): void {
  for (let place = 0; place < transactionCount; place++) {
    let at = outputsAt[place]!;
    const outputs = knownCompactSize(block, at);
    at += compactSizeLength(block[at]!);
    for (let output = 0; output < outputs; output++) {
      at += valueLength;
      const length = knownCompactSize(block, at);
      at += compactSizeLength(block[at]!);
      if (length > 1 && block[at] === opReturn && block[at + 1] === op13)
        found.add(place, output, at, length);
      at += length;
    }
  }
}

const hashes = new HashTree();

/** Txids of transactions by their indexes, 32 bytes each. */
function txidsOf(block: Uint8Array, layout: BlockLayout, transactions: Uint32Array): Uint8Array<ArrayBuffer> {
  const known = layout.txids;
  const count = transactions.length;
  if (known !== null) {
    const txids = new Uint8Array(count * hashLength);
    for (let row = 0; row < count; row++)
      copyBytes(known, transactions[row]! * hashLength, hashLength, txids, row * hashLength);
    return txids;
  }
  hashes.reset(count);
  for (let leaf = 0; leaf < count; leaf++) addTransaction(hashes, leaf, block, layout, transactions[leaf]!);
  hashes.flush();
  return hashes.leaves.slice(0, count * hashLength);
}

/** Views of an encoded result. */
export const openRunestoneCandidates = (buffer: ArrayBuffer): RunestoneCandidates =>
  decodeColumns(columnTypes, version, buffer, 'runestone candidates');
