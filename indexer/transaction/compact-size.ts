/**
 * Bitcoin's variable-length counts (serialize.h, `ReadCompactSize`): one byte below 0xfd, else a prefix and 2, 4 or 8
 * bytes, little endian, always in the shortest form. Plain functions over offsets, which are inlined into the loops of
 * the parser.
 */

/** Returned instead of a value or an offset if the bytes are broken. `breakFound` then has the reason. */
export const broken = -1;

export type BreakKind = 'truncated' | 'not-shortest' | 'unknown-flag';

/**
 * The last break that a reader found. It is one reused record, because returning a new record would allocate on every
 * read.
 */
export const breakFound: { kind: BreakKind; at: number } = { kind: 'truncated', at: 0 };

/** Records how and at which byte the bytes are broken. Returns `broken`. */
export function breakAt(kind: BreakKind, at: number): typeof broken {
  breakFound.kind = kind;
  breakFound.at = at;
  return broken;
}

/** Size of a compact size in bytes, including its first byte. */
export function compactSizeLength(first: number): number {
  if (first < 0xfd) return 1;
  if (first === 0xfd) return 3;
  return first === 0xfe ? 5 : 9;
}

/** The compact size at `at`; `broken` if it exceeds `end` or is not in its shortest form. */
export function compactSizeAt(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return breakAt('truncated', end);
  const first = bytes[at]!;
  return first < 0xfd ? first : longCompactSize(bytes, at, end);
}

/**
 * Offset after a run of bytes, such as a script, whose length is the compact size at `at`. `broken` if the run exceeds
 * `end`, or if the length is not in its shortest form.
 */
export function sizedEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return breakAt('truncated', end);
  const first = bytes[at]!;
  if (first < 0xfd) {
    const after = at + 1 + first;
    return after > end ? breakAt('truncated', end) : after;
  }
  const length = longCompactSize(bytes, at, end);
  if (length < 0) return broken;
  const after = at + compactSizeLength(first) + length;
  return after > end ? breakAt('truncated', end) : after;
}

/** Exceeds any offset, so that a length with this value always exceeds the bytes. */
const beyond = 0x7fffffff;

/**
 * A compact size of three or more bytes at `at`, or `broken` as above. `beyond` if the value cannot be a length within
 * a block.
 */
export function longCompactSize(bytes: Uint8Array, at: number, end: number): number {
  const length = compactSizeLength(bytes[at]!);
  if (at + length > end) return breakAt('truncated', end);
  const low = bytes[at + 1]! | (bytes[at + 2]! << 8);
  if (length === 3) return low < 0xfd ? breakAt('not-shortest', at) : low;
  const high = bytes[at + 3]! | (bytes[at + 4]! << 8);
  if (length === 5) {
    if (high === 0) return breakAt('not-shortest', at);
    return high >= 0x7fff ? beyond : low + high * 0x10000;
  }
  for (let index = at + 5; index < at + 9; index++) if (bytes[index] !== 0) return beyond;
  return breakAt('not-shortest', at);
}

/** The compact size at `at`, in bytes that were already checked, so it is not checked again. */
export function knownCompactSize(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  return first < 0xfd ? first : knownLongCompactSize(bytes, at);
}

/** Offset after a run of bytes whose length is the compact size at `at`, in bytes that were already checked. */
export function afterSized(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0xfd) return at + 1 + first;
  return at + compactSizeLength(first) + knownLongCompactSize(bytes, at);
}

/**
 * Reads a compact size of more than one byte. No block has 2^32 elements or bytes, so sizes of eight bytes never occur.
 */
function knownLongCompactSize(bytes: Uint8Array, at: number): number {
  const low = bytes[at + 1]! | (bytes[at + 2]! << 8);
  if (bytes[at] === 0xfd) return low;
  return low + (bytes[at + 3]! | (bytes[at + 4]! << 8)) * 0x10000;
}
