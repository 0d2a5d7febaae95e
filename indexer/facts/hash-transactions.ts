import type { HashTree } from '#indexer/source/hash-tree.ts';
import { type BlockLayout, lockTimeLength, versionLength } from '#indexer/transaction/block-layout.ts';

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
  const { start, inputsAt, outputsEnd } = layout;
  const from = start[tx]!;
  const end = start[tx + 1]!;
  if (layout.hasWitness(tx)) {
    const body = [inputsAt[tx]!, outputsEnd[tx]!] as const;
    txids.add(leaf, block, [from, from + versionLength], body, [end - lockTimeLength, end]);
  } else {
    txids.add(leaf, block, [from, end]);
  }
}
