import type { Gram } from './postings-layout.ts';

/**
 * A block: the postings of consecutive grams of one segment, in ascending order of the grams.
 *
 * Entry of a gram, all numbers LEB128:
 * - how it follows the gram before it (0, 0, 0 at the start of a block): `step << 2 | level`, and the code points below
 *   the level that changed. Level 0: the last code point grows by `step`. Level 1: the middle one does; then the last.
 *   Level 2: the first does; then the middle and the last.
 * - `size << 1 | isBitmap`, then `size` bytes of postings.
 *
 * Postings are the offsets (id less the start of its window) of the texts that have the gram, whichever is smaller:
 * - a list: the first offset, then each gap less one, LEB128
 * - a bitmap: 16 bits little endian, the index of its first byte in the window's bitmap; then its bytes (the lowest
 *   bit first)
 */
export interface Postings {
  readonly block: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly isBitmap: boolean;
}

/** Reads consecutive LEB128 numbers. */
export class VarintReader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): number {
    let byte = this.#bytes[this.at++]!;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let shift = 7;
    do {
      byte = this.#bytes[this.at++]!;
      value |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    return value;
  }
}

/** Compares two grams: negative if the first one comes earlier, zero if they are equal, positive if it comes later. */
function compareGrams(first: number, middle: number, last: number, gram: Gram): number {
  if (first !== gram[0]) return first - gram[0];
  if (middle !== gram[1]) return middle - gram[1];
  return last - gram[2];
}

/** The postings of a gram. Null: the block does not have the gram. Reads at most one page. */
export function findPostings(block: Uint8Array, gram: Gram): Postings | null {
  const reader = new VarintReader(block);
  let [first, middle, last] = [0, 0, 0];
  while (reader.at < block.length) {
    const head = reader.next();
    const level = head & 3;
    if (level === 0) last += head >>> 2;
    else {
      if (level === 2) {
        first += head >>> 2;
        middle = reader.next();
      } else middle += head >>> 2;
      last = reader.next();
    }
    const size = reader.next();
    const start = reader.at;
    const end = start + (size >>> 1);
    const order = compareGrams(first, middle, last, gram);
    if (order === 0) return { block, start, end, isBitmap: (size & 1) === 1 };
    if (order > 0) return null;
    reader.at = end;
  }
  return null;
}

/** Sets the bits of the postings' offsets in a window's bitmap. */
export function addPostings(postings: Postings, bits: Uint8Array): void {
  const { block, start, end, isBitmap } = postings;
  if (isBitmap) {
    let to = block[start]! | (block[start + 1]! << 8);
    for (let at = start + 2; at < end; at++, to++) bits[to] = bits[to]! | block[at]!;
    return;
  }
  let offset = -1;
  for (let at = start; at < end; ) {
    let byte = block[at++]!;
    let gap = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = block[at++]!;
      gap |= (byte & 0x7f) << shift;
    }
    offset += gap + 1;
    bits[offset >>> 3] = bits[offset >>> 3]! | (1 << (offset & 7));
  }
}

/**
 * The bytes of the postings, which grow with the number of texts. They tell which of two grams is rarer without reading
 * the postings.
 */
export const bytesOf = ({ start, end }: Postings): number => end - start;

/**
 * Keeps those of some ascending offsets that the postings have, at the beginning of `offsets`. Returns their number.
 * `count`: number of offsets before.
 */
export function keepOffsets(postings: Postings, offsets: Uint16Array, count: number): number {
  return postings.isBitmap ? keepOfBitmap(postings, offsets, count) : keepOfList(postings, offsets, count);
}

function keepOfBitmap({ block, start, end }: Postings, offsets: Uint16Array, count: number): number {
  const first = start + 2 - (block[start]! | (block[start + 1]! << 8));
  let kept = 0;
  for (let index = 0; index < count; index++) {
    const offset = offsets[index]!;
    const at = first + (offset >>> 3);
    if (at < start + 2 || at >= end) continue;
    if ((block[at]! & (1 << (offset & 7))) !== 0) offsets[kept++] = offset;
  }
  return kept;
}

/** Reads both lists at once, up to the end of the shorter. */
function keepOfList({ block, start, end }: Postings, offsets: Uint16Array, count: number): number {
  let kept = 0;
  let index = 0;
  let offset = -1;
  for (let at = start; at < end && index < count; ) {
    let byte = block[at++]!;
    let gap = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = block[at++]!;
      gap |= (byte & 0x7f) << shift;
    }
    offset += gap + 1;
    while (index < count && offsets[index]! < offset) index++;
    if (index < count && offsets[index] === offset) offsets[kept++] = offset;
  }
  return kept;
}
