import {
  type FingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import type { Txid } from '#kernel/primitives/hash.ts';

/**
 * 53 bits of a keyed fingerprint of an outpoint, as an exact number. Used as the key of maps in memory. A hit is then
 * compared in full, or costs only one more query.
 */
export type ShortFingerprint = number;

const highFactor = 2 ** 21;
const lowShift = 11;

export const shortFingerprint = (high: number, low: number): ShortFingerprint =>
  high * highFactor + (low >>> lowShift);

const scratch = new Uint8Array(36);
const scratchView = new DataView(scratch.buffer);

/** The short fingerprint of an output. */
export function shortFingerprintOf(txid: Txid, vout: number, key: FingerprintKey): ShortFingerprint {
  scratch.set(txid);
  scratchView.setUint32(32, vout, true);
  fingerprintOutpoint(scratchView, 0, key);
  return shortFingerprint(fingerprint.high, fingerprint.low);
}
