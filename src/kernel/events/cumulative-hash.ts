import { createHash } from 'node:crypto';

/** The hash before the first block of a chain of hashes. It is 32 zero bytes. */
export const firstCumulative: Uint8Array = new Uint8Array(32);

/** sha256 of two parts: the cumulative hash before a block, and then the sha256 of the block's text. */
export function nextCumulative(previous: Uint8Array, sha256: Uint8Array): Buffer {
  return createHash('sha256').update(previous).update(sha256).digest();
}
