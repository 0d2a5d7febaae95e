import { hash } from 'node:crypto';

/**
 * Keyed fingerprints of outpoints: 64 bits of the 36 bytes (txid, index) as they stand in a transaction.
 *
 * Two multilinear hashes over the ring of 32-bit integers, with multipliers that nobody outside knows: each is the
 * sum of word times odd multiplier, plus a constant. Outpoints of one transaction never collide in either half (an
 * odd multiplier is a bijection). For two transactions whose words differ first in bit v of some word, each half
 * collides with probability 2^(v-32) over the choice of keys; to make v large for all eight words is a near-collision
 * of sha256. A collision costs one database query, never a wrong answer (docs/adr/0001-foundation.md).
 */
export interface FingerprintKey {
  /** Nine odd multipliers and a constant for the low half, then the same for the high half. */
  readonly words: Int32Array;
}

const wordsPerHalf = 10;

/** Expands 32 secret bytes to the words of a key. */
export function expandFingerprintKey(key: Uint8Array): FingerprintKey {
  if (key.length !== 32) throw new RangeError(`a fingerprint key has 32 bytes, not ${key.length}`);
  const words = new Int32Array(2 * wordsPerHalf);
  const input = new Uint8Array(33);
  input.set(key);
  for (let counter = 0; counter * 8 < words.length; counter++) {
    input[32] = counter;
    const digest = hash('sha256', input, 'buffer');
    for (let index = 0; index < 8 && counter * 8 + index < words.length; index++) {
      words[counter * 8 + index] = digest.readInt32LE(index * 4) | 1;
    }
  }
  return { words };
}

/** The halves of the last fingerprint: returning a pair would allocate once an input. */
export const fingerprint = { low: 0, high: 0 };

/** Puts the fingerprint of the 36 bytes at `at` into `fingerprint`, as two unsigned 32-bit numbers. */
export function fingerprintOutpoint(view: DataView, at: number, key: FingerprintKey): void {
  const { words } = key;
  let low = words[9] as number;
  let high = words[19] as number;
  for (let index = 0; index < 9; index++) {
    const word = view.getInt32(at + index * 4, true);
    low = (low + Math.imul(word, words[index] as number)) | 0;
    high = (high + Math.imul(word, words[index + wordsPerHalf] as number)) | 0;
  }
  // the shifts bring the better mixed upper bits down, for tables that mask
  fingerprint.low = (low ^ (low >>> 15)) >>> 0;
  fingerprint.high = (high ^ (high >>> 15)) >>> 0;
}

/** As `chain.locations.outpoint_fingerprint` holds it: a signed bigint, in decimal digits. */
export function storedFingerprint(low: number, high: number): string {
  return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low)).toString();
}
