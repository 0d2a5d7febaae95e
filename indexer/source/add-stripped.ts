import { lockTimeLength, markerLength, versionLength } from '#indexer/transaction/block-layout.ts';
import { hasMarker } from '#indexer/transaction/transaction-parts.ts';
import type { HashTree } from './hash-tree.ts';

/**
 * Sets a leaf to the txid of the transaction in [start, end), which was already checked. The txid is the hash of all
 * bytes except marker, flag and witnesses. Returns the number of these bytes.
 *
 * @param outputsEnd the offset after the last output
 */
export function addStripped(
  tree: HashTree,
  leaf: number,
  bytes: Uint8Array,
  start: number,
  outputsEnd: number,
  end: number,
): number {
  if (!hasMarker(bytes, start)) {
    tree.add(leaf, bytes, [start, end]);
    return end - start;
  }
  const versionEnd = start + versionLength;
  const bodyAt = versionEnd + markerLength;
  const lockTimeAt = end - lockTimeLength;
  tree.add(leaf, bytes, [start, versionEnd], [bodyAt, outputsEnd], [lockTimeAt, end]);
  return versionLength + (outputsEnd - bodyAt) + lockTimeLength;
}
