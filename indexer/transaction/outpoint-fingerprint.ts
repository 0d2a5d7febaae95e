import { hash } from 'node:crypto';

/**
 * Keyed fingerprints of outpoints: 64 bits of the 36 bytes (txid, index) as serialised in a transaction.
 *
 * Two multilinear hashes over the ring of 32-bit integers, with secret multipliers: each is the sum of word times odd
 * multiplier, plus a constant. Outpoints of one transaction never collide in either half (an odd multiplier is a
 * bijection). For two transactions whose words differ first in bit v of some word, each half collides with
 * probability 2^(v-32) over the choice of keys; making v large for all eight words requires a near-collision of
 * sha256. A collision costs one database query, never a wrong answer (docs/adr/0001-foundation.md).
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

/** The halves of the last fingerprint. They are stored here because returning a pair would allocate for each input. */
export const fingerprint = { low: 0, high: 0 };

/** Puts the fingerprint of the 36 bytes at `at` into `fingerprint`, as two unsigned 32-bit numbers. */
export function fingerprintOutpoint(view: DataView, at: number, key: FingerprintKey): void {
  const { words } = key;
  let low = words[9]!;
  let high = words[19]!;
  for (let index = 0; index < 9; index++) {
    const word = view.getInt32(at + index * 4, true);
    low = (low + Math.imul(word, words[index]!)) | 0;
    high = (high + Math.imul(word, words[index + wordsPerHalf]!)) | 0;
  }
  // shift the upper bits, which are more random, down for tables that mask
  fingerprint.low = (low ^ (low >>> 15)) >>> 0;
  fingerprint.high = (high ^ (high >>> 15)) >>> 0;
}

/**
 * The part of the low half of fingerprints that comes from the txid at `at`. It is computed once for all outputs of a
 * transaction; `lowOfOutput` completes it.
 */
export function lowOfTxid(view: DataView, at: number, { words }: FingerprintKey): number {
  let low = words[9]!;
  for (let index = 0; index < 8; index++)
    low = (low + Math.imul(view.getInt32(at + index * 4, true), words[index]!)) | 0;
  return low;
}

/** The low half of an output's fingerprint, as a signed number. */
export function lowOfOutput(ofTxid: number, vout: number, { words }: FingerprintKey): number {
  const low = (ofTxid + Math.imul(vout, words[8]!)) | 0;
  return low ^ (low >>> 15);
}

/**
 * Computes the fingerprints of the outpoints at many offsets into two columns, like `fingerprintOutpoint`. It is
 * unrolled by hand, which takes a third of the time of a loop over the words.
 */
export function fingerprintOutpoints(
  view: DataView,
  { words }: FingerprintKey,
  { at, count, low, high }: { at: Uint32Array; count: number; low: Uint32Array; high: Uint32Array },
): void {
  const word = (index: number): number => words[index]!;
  const [a0, a1, a2, a3, a4] = [word(0), word(1), word(2), word(3), word(4)];
  const [a5, a6, a7, a8, a9] = [word(5), word(6), word(7), word(8), word(9)];
  const [b0, b1, b2, b3, b4] = [word(10), word(11), word(12), word(13), word(14)];
  const [b5, b6, b7, b8, b9] = [word(15), word(16), word(17), word(18), word(19)];
  for (let row = 0; row < count; row++) {
    const from = at[row]!;
    const w0 = view.getInt32(from, true);
    const w1 = view.getInt32(from + 4, true);
    const w2 = view.getInt32(from + 8, true);
    const w3 = view.getInt32(from + 12, true);
    const w4 = view.getInt32(from + 16, true);
    const w5 = view.getInt32(from + 20, true);
    const w6 = view.getInt32(from + 24, true);
    const w7 = view.getInt32(from + 28, true);
    const w8 = view.getInt32(from + 32, true);
    let half = (a9 + Math.imul(w0, a0) + Math.imul(w1, a1)) | 0;
    half = (half + Math.imul(w2, a2) + Math.imul(w3, a3)) | 0;
    half = (half + Math.imul(w4, a4) + Math.imul(w5, a5)) | 0;
    half = (half + Math.imul(w6, a6) + Math.imul(w7, a7)) | 0;
    half = (half + Math.imul(w8, a8)) | 0;
    low[row] = half ^ (half >>> 15);
    half = (b9 + Math.imul(w0, b0) + Math.imul(w1, b1)) | 0;
    half = (half + Math.imul(w2, b2) + Math.imul(w3, b3)) | 0;
    half = (half + Math.imul(w4, b4) + Math.imul(w5, b5)) | 0;
    half = (half + Math.imul(w6, b6) + Math.imul(w7, b7)) | 0;
    half = (half + Math.imul(w8, b8)) | 0;
    high[row] = half ^ (half >>> 15);
  }
}

/** A fingerprint as stored in `chain.locations.outpoint_fingerprint`: a signed bigint, in decimal digits. */
export function storedFingerprint(low: number, high: number): string {
  return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low)).toString();
}
