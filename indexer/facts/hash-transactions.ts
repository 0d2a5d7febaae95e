import { addStripped } from '#indexer/source/add-stripped.ts';
import type { HashTree } from '#indexer/source/hash-tree.ts';
import type { BlockLayout } from '#indexer/transaction/block-layout.ts';

/**
 * Sets the leaves of a tree to the txids of a block. Cost: sha256 twice over every transaction without its witnesses,
 * four transactions at a time.
 */
export function hashTransactions(txids: HashTree, block: Uint8Array, layout: BlockLayout): void {
  const { transactionCount } = layout;
  txids.reset(transactionCount);
  for (let tx = 0; tx < transactionCount; tx++) addTransaction(txids, tx, block, layout, tx);
  txids.flush();
}

/** Sets a leaf to the txid of one transaction. */
export function addTransaction(
  txids: HashTree,
  leaf: number,
  block: Uint8Array,
  layout: BlockLayout,
  tx: number,
): void {
  const { start, outputsEnd } = layout;
  addStripped(txids, leaf, block, start[tx]!, outputsEnd[tx]!, start[tx + 1]!);
}
