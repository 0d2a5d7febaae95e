import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { lockTimeLength, markerLength, versionLength } from './block-layout.ts';
import { doubleSha256 } from './double-sha256.ts';
import { hasMarker, OutputWalk } from './transaction-parts.ts';

let scratch = new Uint8Array(4096);

/**
 * The txid (internal order) of the transaction in [start, end) whose output count is at `outputs`, in bytes that were
 * already checked. It is the double sha256 of all bytes except marker, flag and witnesses.
 */
export function transactionId(bytes: Uint8Array, start: number, outputs: number, end: number): Txid {
  if (!hasMarker(bytes, start)) return trustedTxid(doubleSha256(bytes.subarray(start, end)));
  const walk = new OutputWalk(bytes);
  walk.open(outputs);
  return strippedHash(bytes, start, walk.end(), end);
}

/** Like `transactionId`, with a known end of the outputs. */
export function strippedHash(bytes: Uint8Array, start: number, outputsEnd: number, end: number): Txid {
  if (!hasMarker(bytes, start)) return trustedTxid(doubleSha256(bytes.subarray(start, end)));
  const bodyAt = start + versionLength + markerLength;
  const length = versionLength + (outputsEnd - bodyAt) + lockTimeLength;
  if (length > scratch.length) scratch = new Uint8Array(length * 2);
  scratch.set(bytes.subarray(start, start + versionLength));
  scratch.set(bytes.subarray(bodyAt, outputsEnd), versionLength);
  scratch.set(bytes.subarray(end - lockTimeLength, end), length - lockTimeLength);
  return trustedTxid(doubleSha256(scratch.subarray(0, length)));
}
