import { passagesHeadBytes } from '#search/segments/postings-layout.ts';
import { putVarint } from './blocks-writer.ts';

/**
 * Bounds of the passages of a segment: their number, their bytes, and the texts of all of them together. Postings take
 * at most two bytes for a text, except three texts of each passage: 1.1 MB at these bounds. Each search with frequent
 * grams looks through the passages (some 50 µs) and adds up their postings (at most 3 ms).
 */
const passagesMax = 4096;
const bytesMax = 65_536;
const textsOfAllMax = 1 << 19;

/** A gram is frequent if at least this share of all texts has it. Too many passages: the next share. */
const shares = [1 / 16, 1 / 8, 1 / 4];

/** Whether a gram is frequent. */
type IsFrequent = (first: number, middle: number, last: number) => boolean;

/** Calls `each` with the offset and the bytes of each text until `each` returns false. */
type EachText = (each: (offset: number, text: Uint8Array) => boolean) => void;

/**
 * The block with the passages of a segment (search/segments/passages.ts). Null: the segment has no passages, or too
 * many.
 *
 * @param frequentGrams returns a test whether at least about this many texts have a gram.
 */
export function passagesOf(
  eachText: EachText,
  texts: number,
  frequentMin: number,
  frequentGrams: (texts: number) => IsFrequent,
): Uint8Array | null {
  if (texts < frequentMin) return null;
  for (const share of shares) {
    const passages = new PassagesBuilder(frequentGrams(Math.max(frequentMin, texts * share)));
    let fits = true;
    eachText((offset, text) => (fits = passages.add(offset, text)));
    if (fits) return passages.finish();
  }
  return null;
}

class PassagesBuilder {
  readonly #isFrequent: IsFrequent;
  /** Offsets of the texts that have a passage, by its bytes as latin1. */
  readonly #offsets = new Map<string, number[]>();
  #bytes = 0;
  #textsOfAll = 0;

  constructor(isFrequent: IsFrequent) {
    this.#isFrequent = isFrequent;
  }

  /** Adds the passages of a text. False: there are too many passages. */
  add(offset: number, text: Uint8Array): boolean {
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    let first = 0;
    let middle = 0;
    let firstAt = 0;
    let middleAt = 0;
    // where the passage begins, and its number of grams
    let start = 0;
    let grams = 0;
    for (let at = 0; at < bytes.length; ) {
      const lastAt = at;
      let last = bytes[at++]!;
      if (last >= 0x80) {
        const more = last < 0xe0 ? 1 : last < 0xf0 ? 2 : 3;
        last &= 0x3f >> more;
        for (const next = at + more; at < next; at++) last = (last << 6) | (bytes[at]! & 0x3f);
      }
      if (first !== 0 && this.#isFrequent(first, middle, last)) {
        if (grams++ === 0) start = firstAt;
      } else {
        if (grams > 1 && !this.#addPassage(offset, bytes.toString('latin1', start, lastAt))) return false;
        grams = 0;
      }
      first = middle;
      firstAt = middleAt;
      middle = last;
      middleAt = lastAt;
    }
    return grams < 2 || this.#addPassage(offset, bytes.toString('latin1', start));
  }

  /** False: there are too many passages. */
  #addPassage(offset: number, passage: string): boolean {
    const offsets = this.#offsets.get(passage);
    if (offsets?.at(-1) === offset) return true;
    if (offsets === undefined) {
      this.#offsets.set(passage, [offset]);
      this.#bytes += passage.length + 1;
    } else offsets.push(offset);
    this.#textsOfAll++;
    return this.#offsets.size <= passagesMax && this.#bytes <= bytesMax && this.#textsOfAll <= textsOfAllMax;
  }

  /** Null: there is no passage. */
  finish(): Uint8Array | null {
    if (this.#offsets.size === 0) return null;
    const texts = Buffer.from(`\0${[...this.#offsets.keys()].join('\0')}\0`, 'latin1');
    const head = Buffer.alloc(passagesHeadBytes);
    head.writeUInt32LE(texts.length);
    return Buffer.concat([head, texts, ...[...this.#offsets.values()].map(postingsEntry)]);
  }
}

/** Maximum number of bytes of a gap between offsets, and of the size of postings. */
const varintMaxBytes = 4;

/** The size of postings and the postings: a list of gaps or a bitmap, whichever is smaller. */
function postingsEntry(offsets: readonly number[]): Uint8Array {
  const list = new Uint8Array(offsets.length * varintMaxBytes);
  let size = 0;
  let before = -1;
  for (const offset of offsets) {
    size = putVarint(list, size, offset - before - 1);
    before = offset;
  }
  const firstByte = (offsets[0] as number) >>> 3;
  const bitmapSize = (before >>> 3) - firstByte + 3;
  const isBitmap = bitmapSize < size;
  const entry = new Uint8Array(varintMaxBytes + Math.min(size, bitmapSize));
  let at = putVarint(entry, 0, (Math.min(size, bitmapSize) << 1) | (isBitmap ? 1 : 0));
  if (!isBitmap) {
    entry.set(list.subarray(0, size), at);
    return entry.subarray(0, at + size);
  }
  entry[at++] = firstByte;
  entry[at++] = firstByte >>> 8;
  for (const offset of offsets) {
    const to = at + (offset >>> 3) - firstByte;
    entry[to] = entry[to]! | (1 << (offset & 7));
  }
  return entry.subarray(0, at + bitmapSize - 2);
}
