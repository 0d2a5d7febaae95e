import { hash } from 'node:crypto';

/** The longest script that can be watched, as the table has it (service.watched_scripts). */
export const scriptLengthMax = 520;

const wordsMax = scriptLengthMax / 4;
/** A word for the length, and a constant. */
const wordsPerHalf = wordsMax + 2;

/** The halves of the last fingerprint, unsigned: returning a pair would allocate for each output. */
export const scriptFingerprint = { low: 0, high: 0 };

/** Secret multipliers: all odd. */
export type ScriptKey = Int32Array;

/** Expands 32 secret bytes to the multipliers of a key. */
export function expandScriptKey(secret: Uint8Array): ScriptKey {
  const words = new Int32Array(2 * wordsPerHalf);
  const input = Buffer.concat([secret, Buffer.alloc(4)]);
  for (let first = 0; first < words.length; first += 8) {
    input.writeUInt32LE(first, secret.length);
    const digest = hash('sha256', input, 'buffer');
    for (let index = 0; index < 8 && first + index < words.length; index++) {
      words[first + index] = digest.readInt32LE(index * 4) | 1;
    }
  }
  return words;
}

/**
 * Puts a keyed fingerprint of 64 bits of a script of 1 to 520 bytes into `scriptFingerprint`: two multilinear hashes
 * over its 32-bit words and its length, like those of outpoints (indexer/transaction/outpoint-fingerprint.ts). A
 * collision of two scripts costs a database query, never a wrong answer.
 */
export function fingerprintScript(view: DataView, at: number, length: number, key: ScriptKey): void {
  let low = key[wordsMax + 1]!;
  let high = key[wordsPerHalf + wordsMax + 1]!;
  low = (low + Math.imul(length, key[wordsMax]!)) | 0;
  high = (high + Math.imul(length, key[wordsPerHalf + wordsMax]!)) | 0;
  const words = length >> 2;
  for (let index = 0; index < words; index++) {
    const word = view.getInt32(at + index * 4, true);
    low = (low + Math.imul(word, key[index]!)) | 0;
    high = (high + Math.imul(word, key[wordsPerHalf + index]!)) | 0;
  }
  let rest = 0;
  for (let index = length - 1; index >= words * 4; index--) rest = (rest << 8) | view.getUint8(at + index);
  if (words * 4 < length) {
    low = (low + Math.imul(rest, key[words]!)) | 0;
    high = (high + Math.imul(rest, key[wordsPerHalf + words]!)) | 0;
  }
  // the upper bits are better mixed, and tables use the lower ones
  scriptFingerprint.low = (low ^ (low >>> 15)) >>> 0;
  scriptFingerprint.high = (high ^ (high >>> 15)) >>> 0;
}
