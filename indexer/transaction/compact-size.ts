/** Larger than any offset: what is said to be this long does not end within the block. */
const beyond = 0x7fffffff;

/** Bytes behind the prefix of a compact size (0xfd, 0xfe, 0xff). */
export function compactSizeWidth(prefix: number): number {
  if (prefix === 0xfd) return 2;
  return prefix === 0xfe ? 4 : 8;
}

/**
 * The compact size whose prefix (0xfd, 0xfe or 0xff) stands before `at`. A value that runs over `end`, or that
 * cannot be a length within any block, is 2^31 - 1; one that is not written in its shortest form is -1, because
 * Bitcoin Core refuses it (serialize.h, ReadCompactSize).
 */
export function longCompactSize(bytes: Uint8Array, at: number, end: number, prefix: number): number {
  const width = compactSizeWidth(prefix);
  if (at + width > end) return beyond;
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  if (width === 2) return low < 0xfd ? -1 : low;
  const high = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8);
  if (width === 4) {
    if (high === 0) return -1;
    return high >= 0x7fff ? beyond : low + high * 0x10000;
  }
  for (let index = at + 4; index < at + 8; index++) if (bytes[index] !== 0) return beyond;
  return -1;
}
