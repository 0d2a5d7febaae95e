import { hash } from 'node:crypto';

/** sha256 of sha256, in internal order. */
export function doubleHash(bytes: Uint8Array): Uint8Array {
  return hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer');
}

/**
 * Merkle root of consecutive 32-byte leaves. If a level has an odd number of nodes, its last node is repeated (Bitcoin
 * Core consensus/merkle.cpp).
 */
export function merkleRoot(leaves: Uint8Array): Uint8Array {
  let count = leaves.length / 32;
  const level = Buffer.alloc(leaves.length + 32);
  level.set(leaves);
  while (count > 1) {
    if (count % 2 === 1) level.copy(level, count * 32, (count - 1) * 32, count * 32);
    count = Math.ceil(count / 2);
    for (let i = 0; i < count; i++) level.set(doubleHash(level.subarray(i * 64, i * 64 + 64)), i * 32);
  }
  return level.subarray(0, 32);
}
