import { Sha256Lanes } from '#indexer/parse/sha256/sha256-lanes.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { copyBytes } from '#kernel/copy-bytes.ts';

const hashLength = 32;

/**
 * The double sha256 of many messages as the leaves of a merkle tree, and its root. Short messages and nodes are
 * hashed four at a time. Reusable: it keeps the memory of the largest tree.
 */
export class HashTree {
  /** Leaves of 32 bytes each; later the nodes of a level. */
  leaves = new Uint8Array(4096 * hashLength);
  readonly #rows = { hash: this.leaves };
  readonly #lanes = new Sha256Lanes(this.#rows, true);
  #scratch = new Uint8Array(1 << 16);
  #count = 0;

  /** Begins a tree of `count` leaves, all zero. */
  reset(count: number): void {
    // a level with an odd number of nodes duplicates its last node
    const length = (count + 1) * hashLength;
    if (length > this.leaves.length) {
      this.leaves = new Uint8Array(length * 2);
      this.#rows.hash = this.leaves;
    }
    this.leaves.fill(0, 0, length);
    this.#lanes.reset();
    this.#count = count;
  }

  /** Sets a leaf to the hash of parts of `source`, given by pairs of offsets and concatenated. */
  add(leaf: number, source: Uint8Array, ...parts: readonly (readonly [start: number, end: number])[]): void {
    let length = 0;
    for (const [start, end] of parts) length += end - start;
    const isShort = Sha256Lanes.takes(length);
    if (!isShort && length > this.#scratch.length) this.#scratch = new Uint8Array(length * 2);
    const target = isShort ? this.#lanes.bytes : this.#scratch;
    let at = isShort ? this.#lanes.begin(length, leaf) : 0;
    for (const [start, end] of parts) {
      copyBytes(source, start, end - start, target, at);
      at += end - start;
    }
    if (isShort) this.#lanes.commit();
    else this.leaves.set(doubleSha256(this.#scratch.subarray(0, length)), leaf * hashLength);
  }

  /** Completes all leaves that were added. */
  flush(): void {
    this.#lanes.flush();
  }

  /**
   * Reduces the leaves to their root, which is then the first 32 bytes. Returns false if two neighbours of a level are
   * equal, because the last leaves may have been duplicated to make another list with the same root (CVE-2012-2459).
   * Bitcoin Core refuses such a block whatever its root is (consensus/merkle.cpp `ComputeMerkleRoot`, `mutated`).
   */
  fold(): boolean {
    const { leaves } = this;
    const lanes = this.#lanes;
    let distinct = true;
    lanes.flush();
    for (let count = this.#count; count > 1; count = (count + 1) >> 1) {
      for (let pair = 0; pair + 1 < count; pair += 2) {
        if (sameNodes(leaves, pair * hashLength)) distinct = false;
      }
      if (count % 2 === 1)
        leaves.copyWithin(count * hashLength, (count - 1) * hashLength, count * hashLength);
      // writing a node only overwrites inputs that were already read
      for (let node = 0; node < (count + 1) >> 1; node++) {
        lanes.add(leaves, node * 2 * hashLength, 2 * hashLength, node);
      }
      lanes.flush();
    }
    return distinct;
  }
}

function sameNodes(nodes: Uint8Array, at: number): boolean {
  for (let index = at; index < at + hashLength; index++) {
    if (nodes[index] !== nodes[index + hashLength]) return false;
  }
  return true;
}
