import { strict as assert } from 'node:assert';
import type { BlockColumns } from '#indexer/parse/block-columns.ts';
import { addStripped } from '#indexer/source/add-stripped.ts';
import { HashTree } from '#indexer/source/hash-tree.ts';
import { OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { HeldInscriptions } from '../ledger-block.ts';

const hashLength = 32;
const none: readonly number[] = [];

/** Shared by all blocks, one at a time, to reuse its memory. */
const hashes = new HashTree();
/** Number of the block whose txids are in `hashes`. */
let generation = 0;

/**
 * The txids of the transactions that spend inscriptions of earlier blocks, if the block was not checked and so has no
 * txids. They are hashed four at a time, because a call to the native hash costs as much as two short transactions.
 * Valid until the txids of another block are hashed.
 */
export class MovingTxids {
  /** Transactions with a hash, ascending. A leaf of the tree has the same index. */
  readonly #txs: readonly number[];
  readonly #generation: number;
  /** Index of the first transaction that is not below the one requested last. */
  #at = 0;

  constructor(block: Uint8Array, columns: BlockColumns, held: HeldInscriptions) {
    this.#txs = columns.txTxid.length > 0 ? none : movingTransactions(columns, held);
    if (this.#txs.length > 0) hashEach(block, columns, this.#txs);
    this.#generation = generation;
  }

  /** The txid of a transaction, or null if it was not hashed. Transactions are requested in ascending order. */
  of(tx: number): Txid | null {
    const txs = this.#txs;
    while (this.#at < txs.length && txs[this.#at]! < tx) this.#at++;
    if (txs[this.#at] !== tx) return null;
    assert.equal(this.#generation, generation, 'no other block was hashed since');
    return trustedTxid(hashes.leaves.subarray(this.#at * hashLength, (this.#at + 1) * hashLength));
  }
}

/** The transactions that spend inscriptions of earlier blocks, except reveals, whose txids the parser has hashed. */
function movingTransactions({ txFirstInput, revealTx }: BlockColumns, held: HeldInscriptions): number[] {
  const txs: number[] = [];
  let tx = 0;
  let reveal = 0;
  for (let row = 0; row < held.count; row++) {
    while (txFirstInput[tx + 1]! <= held.input[row]!) tx++;
    while (reveal < revealTx.length && revealTx[reveal]! < tx) reveal++;
    if (revealTx[reveal] !== tx && txs.at(-1) !== tx) txs.push(tx);
  }
  return txs;
}

function hashEach(block: Uint8Array, { txStart, txOutputs }: BlockColumns, txs: readonly number[]): void {
  const outputs = new OutputWalk(block);
  generation++;
  hashes.reset(txs.length);
  for (const [leaf, tx] of txs.entries()) {
    outputs.open(txOutputs[tx]!);
    addStripped(hashes, leaf, block, txStart[tx]!, outputs.end(), txStart[tx + 1]!);
  }
  hashes.flush();
}
