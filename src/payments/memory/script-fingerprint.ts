import { hash } from 'node:crypto';

/** Maximum number of bytes of a watched script. The table service.watched_scripts has the same bound. */
export const scriptLengthMax = 520;

const wordsMax = scriptLengthMax / 4;
/**
 * Number of multipliers in each half of the key: one for each word of the script, one for the script's length, and a
 * constant.
 */
const wordsPerHalf = wordsMax + 2;
const halfBytes = 4 * wordsPerHalf;
const keyBytes = 2 * halfBytes;
const digestBytes = 32;
/** Byte offset of the length's multiplier in a half of the key. `constantAt` is the byte offset of the constant. */
const lengthAt = 4 * wordsMax;
const constantAt = lengthAt + 4;

/**
 * The two unsigned halves of the last fingerprint. The halves are in a shared object, because a returned pair would
 * allocate memory for each output.
 */
export const scriptFingerprint = { low: 0, high: 0 };

/** Secret multipliers, all of them odd. */
export type ScriptKey = DataView;

/** Expands 32 secret bytes into the multipliers of a key. */
export function expandScriptKey(secret: Uint8Array): ScriptKey {
  const key = new DataView(new ArrayBuffer(keyBytes));
  const input = Buffer.concat([secret, Buffer.alloc(4)]);
  for (let first = 0; first < keyBytes; first += digestBytes) {
    input.writeUInt32LE(first / 4, secret.length);
    const digest = hash('sha256', input, 'buffer');
    for (let at = 0; at < digestBytes && first + at < keyBytes; at += 4) {
      key.setInt32(first + at, digest.readInt32LE(at) | 1, true);
    }
  }
  return key;
}

/**
 * Writes the keyed 64-bit fingerprint of a script of 1 to 520 bytes into `scriptFingerprint`. The fingerprint consists
 * of two multilinear hashes of the script's 32-bit words and its length, like the fingerprints of outpoints
 * (indexer/transaction/outpoint-fingerprint.ts). If two scripts have the same fingerprint, the only cost is a database
 * query. The result is never wrong.
 */
export function fingerprintScript(view: DataView, at: number, length: number, key: ScriptKey): void {
  let low = key.getInt32(constantAt, true);
  let high = key.getInt32(halfBytes + constantAt, true);
  low = (low + Math.imul(length, key.getInt32(lengthAt, true))) | 0;
  high = (high + Math.imul(length, key.getInt32(halfBytes + lengthAt, true))) | 0;
  const whole = length & ~3;
  for (let place = 0; place < whole; place += 4) {
    const word = view.getInt32(at + place, true);
    low = (low + Math.imul(word, key.getInt32(place, true))) | 0;
    high = (high + Math.imul(word, key.getInt32(halfBytes + place, true))) | 0;
  }
  let rest = 0;
  for (let place = length - 1; place >= whole; place--) rest = (rest << 8) | view.getUint8(at + place);
  if (whole < length) {
    low = (low + Math.imul(rest, key.getInt32(whole, true))) | 0;
    high = (high + Math.imul(rest, key.getInt32(halfBytes + whole, true))) | 0;
  }
  // the upper bits are mixed better, but tables use the lower bits
  scriptFingerprint.low = (low ^ (low >>> 15)) >>> 0;
  scriptFingerprint.high = (high ^ (high >>> 15)) >>> 0;
}
