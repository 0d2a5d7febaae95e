/** The usual start of FNV-1a with 32 bits. A random start makes hashes that no one can foresee. */
export const fnvStart = 0x81_1c_9d_c5;
const fnvPrime = 0x01_00_01_93;

/** The hash FNV-1a of the bytes in [start, end): 32 bits with a sign. Use it for tables of short keys. */
export function fnv1a(bytes: Uint8Array, start: number, end: number, from: number): number {
  let hash = from;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), fnvPrime);
  return hash;
}
