import { compactSizeAt, compactSizeLength } from '#indexer/transaction/compact-size.ts';
import type { Txid } from '#kernel/primitives/hash.ts';

const headerLength = 80;
/** Offset of the hashes. Before them are the header, and the number of transactions in the block in four bytes. */
const hashesAt = headerLength + 4;
const hashLength = 32;
/**
 * Maximum number of transactions in a block. It is a block's weight limit divided by the weight of the smallest
 * transaction (Bitcoin Core merkleblock.cpp).
 */
const transactionsMax = Math.floor(4_000_000 / 240);

/**
 * Returns the position of a transaction in its block. The proof has the form of Bitcoin Core's `gettxoutproof` (BIP 37,
 * `CMerkleBlock`). Null if the bytes are not a proof of this transaction. Pure and never throws. Hashes are not checked
 * against the header, because the node that sends them is trusted.
 */
export function positionInProof(proof: Uint8Array, txid: Txid): number | null {
  const count = countIn(proof);
  const hashes = hashesIn(proof);
  if (count === null || hashes === null) return null;
  const { first, end, flags } = hashes;
  // the tree is read depth first, from the left; a set flag marks a tree node on the path to a transaction of the proof
  const left = [{ level: heightOf(count), position: 0 }];
  let hashAt = first;
  for (let flag = 0; flag < flags.length * 8; flag++) {
    const node = left.pop();
    if (node === undefined) return null;
    const { level, position } = node;
    const isOnWay = (((flags[flag >> 3] ?? 0) >> (flag & 7)) & 1) === 1;
    if (level > 0 && isOnWay) {
      const child = position * 2;
      if (child + 1 < widthAt(count, level - 1)) left.push({ level: level - 1, position: child + 1 });
      left.push({ level: level - 1, position: child });
      continue;
    }
    if (hashAt >= end) return null;
    const hash = proof.subarray(hashAt, hashAt + hashLength);
    if (isOnWay && Buffer.compare(hash, txid) === 0) return position;
    hashAt += hashLength;
  }
  return null;
}

/** Number of tree nodes at a level. The leaves at level 0 are the transactions. */
const widthAt = (count: number, level: number): number => Math.ceil(count / 2 ** level);

function heightOf(count: number): number {
  let height = 0;
  while (widthAt(count, height) > 1) height++;
  return height;
}

function countIn(proof: Uint8Array): number | null {
  if (proof.length < hashesAt) return null;
  const count = new DataView(proof.buffer, proof.byteOffset).getUint32(headerLength, true);
  return count > 0 && count <= transactionsMax ? count : null;
}

function hashesIn(proof: Uint8Array): { first: number; end: number; flags: Uint8Array } | null {
  const count = compactSizeAt(proof, hashesAt, proof.length);
  if (count < 0) return null;
  const first = hashesAt + compactSizeLength(proof[hashesAt] ?? 0);
  const end = first + count * hashLength;
  const flagBytes = compactSizeAt(proof, end, proof.length);
  if (flagBytes < 0) return null;
  const flagsAt = end + compactSizeLength(proof[end] ?? 0);
  if (flagsAt + flagBytes > proof.length) return null;
  return { first, end, flags: proof.subarray(flagsAt, flagsAt + flagBytes) };
}
