import { hash } from 'node:crypto';

/** Bitcoin's hash of `bytes`: 32 bytes in internal order. */
export function doubleSha256(bytes: Uint8Array): Buffer {
  return hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer');
}
