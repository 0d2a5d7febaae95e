import { doubleSha256Into } from './double-sha256.ts';

/**
 * Folds the first `count` leaves of `leaves` (32 bytes each) to their merkle root, in place: the root is then the first
 * 32 bytes. `leaves` has room for one leaf more than an odd count. False where two neighbours of a level are equal:
 * the last leaves may have been doubled to make another list with the same root (CVE-2012-2459), and Bitcoin Core
 * refuses such a block whatever its root is (consensus/merkle.cpp `ComputeMerkleRoot`, `mutated`).
 */
export function foldMerkleRoot(leaves: Buffer, count: number): boolean {
  let distinct = true;
  while (count > 1) {
    for (let pair = 0; pair + 1 < count; pair += 2) {
      const at = pair * 32;
      if (leaves.compare(leaves, at + 32, at + 64, at, at + 32) === 0) distinct = false;
    }
    if (count % 2 === 1) leaves.copyWithin(count * 32, (count - 1) * 32, count * 32);
    count = (count + 1) >> 1;
    for (let node = 0; node < count; node++) {
      doubleSha256Into(leaves.subarray(node * 64, node * 64 + 64), leaves, node * 32);
    }
  }
  return distinct;
}
