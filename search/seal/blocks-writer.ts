import {
  blockMaxBytes,
  gramFirst,
  gramHigh,
  gramLast,
  gramLow,
  gramMiddle,
  passagesGram,
} from '#search/segments/postings-layout.ts';

/**
 * The blocks of a segment. Block i is `bytes[starts[i], starts[i + 1])`. The last start is the end of the last block.
 */
export interface PostingsBlocks {
  readonly bytes: Uint8Array;
  readonly starts: readonly number[];
  /** For each block: the high and low half of its first gram. */
  readonly firstGrams: readonly (readonly [high: number, low: number])[];
}

/** Maximum number of bytes of the head of an entry: four LEB128 numbers of at most four bytes. */
const entryHeadMaxBytes = 16;

/** Writes a number below 2^28 as LEB128. Returns the offset after it. */
export function putVarint(out: Uint8Array, at: number, value: number): number {
  let rest = value;
  let to = at;
  while (rest >= 0x80) {
    out[to++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  out[to++] = rest;
  return to;
}

/** Writes blocks in the format that search/segments/postings-block.ts reads. Grams must come in ascending order. */
export class BlocksWriter {
  #out = new Uint8Array(1 << 20);
  #at = 0;
  #before: readonly [number, number, number] = [0, 0, 0];
  readonly #starts: number[] = [];
  readonly #firstGrams: [number, number][] = [];

  /** Writes the list of offsets of a gram. */
  putList(high: number, low: number, list: Uint8Array): void {
    this.#putHead(high, low, list.length, false);
    this.#out.set(list, this.#at);
    this.#at += list.length;
  }

  /** Writes the bitmap of a gram over its window. Zero bytes at both ends are omitted. */
  putBitmap(high: number, low: number, bits: Uint8Array): void {
    let start = 0;
    let end = bits.length;
    while (bits[start] === 0) start++;
    while (bits[end - 1] === 0) end--;
    this.#putHead(high, low, end - start + 2, true);
    this.#out[this.#at] = start;
    this.#out[this.#at + 1] = start >>> 8;
    this.#out.set(bits.subarray(start, end), this.#at + 2);
    this.#at += end - start + 2;
  }

  /** Writes the passages as a block of their own, after all grams. */
  putPassages(passages: Uint8Array): void {
    this.#starts.push(this.#at);
    const [first, middle, last] = passagesGram;
    this.#firstGrams.push([gramHigh(first, middle), gramLow(middle, last)]);
    this.#makeRoom(passages.length);
    this.#out.set(passages, this.#at);
    this.#at += passages.length;
  }

  finish(): PostingsBlocks {
    const bytes = this.#out.subarray(0, this.#at);
    return { bytes, starts: [...this.#starts, this.#at], firstGrams: this.#firstGrams };
  }

  #putHead(high: number, low: number, size: number, isBitmap: boolean): void {
    const blockStart = this.#starts.at(-1);
    if (blockStart === undefined || this.#at + entryHeadMaxBytes + size > blockStart + blockMaxBytes) {
      this.#starts.push(this.#at);
      this.#firstGrams.push([high, low]);
      this.#before = [0, 0, 0];
    }
    this.#makeRoom(entryHeadMaxBytes + size);
    const [first, middle, last] = [gramFirst(high), gramMiddle(high, low), gramLast(low)];
    const [beforeFirst, beforeMiddle, beforeLast] = this.#before;
    let to = this.#at;
    if (first !== beforeFirst) {
      to = putVarint(this.#out, to, ((first - beforeFirst) << 2) | 2);
      to = putVarint(this.#out, to, middle);
      to = putVarint(this.#out, to, last);
    } else if (middle !== beforeMiddle) {
      to = putVarint(this.#out, to, ((middle - beforeMiddle) << 2) | 1);
      to = putVarint(this.#out, to, last);
    } else to = putVarint(this.#out, to, (last - beforeLast) << 2);
    this.#before = [first, middle, last];
    this.#at = putVarint(this.#out, to, (size << 1) | (isBitmap ? 1 : 0));
  }

  #makeRoom(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    const larger = new Uint8Array(this.#out.length * 2 + bytes);
    larger.set(this.#out.subarray(0, this.#at));
    this.#out = larger;
  }
}
