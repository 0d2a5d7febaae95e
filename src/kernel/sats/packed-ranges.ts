import type { SatRange } from './sat-range.ts';

/**
 * Length of a stored range of sats, which is 11 bytes. They are little endian, with 51 bits for the first sat and 33
 * bits for the size. No sat is above 2^51, and no range is longer than a subsidy, 5e9.
 */
export const packedRangeLength = 11;

/** Writes a range. */
export function packRange(into: Uint8Array, at: number, start: number, end: number): void {
  const size = end - start;
  const startHigh = Math.floor(start / 2 ** 32);
  const sizeHigh = Math.floor(size / 2 ** 13);
  const low = start - startHigh * 2 ** 32;
  // 19 bits of the first sat, and 13 bits of the size
  const middle = startHigh + (size - sizeHigh * 2 ** 13) * 2 ** 19;
  into[at] = low;
  into[at + 1] = low >>> 8;
  into[at + 2] = low >>> 16;
  into[at + 3] = low >>> 24;
  into[at + 4] = middle;
  into[at + 5] = middle >>> 8;
  into[at + 6] = middle >>> 16;
  into[at + 7] = middle >>> 24;
  into[at + 8] = sizeHigh;
  into[at + 9] = sizeHigh >>> 8;
  into[at + 10] = sizeHigh >>> 16;
}

/** Reads `count` ranges at `at`, as pairs of the first sat and the first sat after the range. */
export function unpackPairs(bytes: Uint8Array, at: number, count: number): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pairs = new Float64Array(count * 2);
  for (let range = 0, from = at; range < count; range++, from += packedRangeLength) {
    const middle = view.getUint32(from + 4, true);
    const sizeHigh = view.getUint16(from + 8, true) + view.getUint8(from + 10) * 2 ** 16;
    const start = view.getUint32(from, true) + (middle % 2 ** 19) * 2 ** 32;
    pairs[range * 2] = start;
    pairs[range * 2 + 1] = start + (middle >>> 19) + sizeHigh * 2 ** 13;
  }
  return pairs;
}

/** All ranges of a row. */
export function unpackRanges(bytes: Uint8Array): SatRange[] {
  const ranges: SatRange[] = [];
  let start = 0;
  for (const [at, sat] of unpackPairs(bytes, 0, bytes.length / packedRangeLength).entries()) {
    if (at % 2 === 0) start = sat;
    else ranges.push({ start, end: sat });
  }
  return ranges;
}
