export const outpointLength = 36;

/** The 36 bytes of an outpoint as a key of maps. */
export function outpointName(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, outpointLength).toString('latin1');
}
