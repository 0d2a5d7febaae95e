import { expandFingerprintKey, fingerprint, fingerprintOutpoint } from './outpoint-fingerprint.ts';

/** Fingerprints of outpoints under the key of an index, each in Postgres' text form of a bigint. */
export function fingerprintsOf(
  key: Uint8Array,
  outpoints: readonly { readonly txid: Uint8Array; readonly vout: number }[],
): string[] {
  const expanded = expandFingerprintKey(key);
  const bytes = Buffer.alloc(36);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return outpoints.map(({ txid, vout }) => {
    bytes.set(txid);
    bytes.writeUInt32LE(vout, 32);
    fingerprintOutpoint(view, 0, expanded);
    return BigInt.asIntN(64, (BigInt(fingerprint.high) << 32n) | BigInt(fingerprint.low)).toString();
  });
}
