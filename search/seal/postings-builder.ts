import { addPostings } from '#search/segments/postings-block.ts';
import {
  bitmapBytes,
  gramFirst,
  gramHigh,
  gramLast,
  gramLow,
  gramMiddle,
} from '#search/segments/postings-layout.ts';
import { BlocksWriter, type PostingsBlocks } from './blocks-writer.ts';

// Fields of a slot, which describes one gram.
const fields = 8;
const highField = 0;
const lowField = 1;
const lastField = 2; // offset of the last text that has it; -1: no text yet
const sizeField = 3; // bytes of its list, or `inBitmap`
const headField = 4; // place of its first chunk in the arena, or of its bitmap
const writeField = 5; // place of the next byte of its list
const endField = 6; // end of the data of its last chunk, followed by the place of the next chunk

const inBitmap = -1;
// A chunk of a list: data, then 4 bytes with the place of the next chunk. Rare grams (most of them) get little,
// frequent ones few chunks.
const placeBytes = 4;
const smallestChunkBytes = 16;
const largestChunkBytes = 1024;
const asciiGrams = 1 << 21;
const firstSlots = fields * 4096;
const firstArenaBytes = 1 << 20;
const firstWide = 1 << 12;
/**
 * Maximum room that a builder keeps for its next segment. Most segments need less. Larger segments are rare, and their
 * room is freed.
 */
const keptArenaBytes = 1 << 24;
const keptNumbers = 1 << 21;

/** Index of a gram that only has ASCII: 7 bits per code point. */
const asciiIndex = (first: number, middle: number, last: number): number =>
  (first << 14) | (middle << 7) | last;

/** Number of bytes of the next chunk of a list that has `size` bytes. */
function chunkBytes(size: number): number {
  let bytes = smallestChunkBytes;
  while (bytes < largestChunkBytes && bytes <= size) bytes *= 2;
  return bytes;
}

function grown<View extends Uint8Array | Int32Array>(view: View, length: number, needed: number): View {
  let size = view.length * 2;
  while (size < needed) size *= 2;
  const larger = (view instanceof Uint8Array ? new Uint8Array(size) : new Int32Array(size)) as View;
  larger.set(view.subarray(0, length));
  return larger;
}

/** The array, with zeros in its used part. If the array exceeds the size to keep, a new one. */
function emptied<View extends Uint8Array | Int32Array>(
  view: View,
  used: number,
  kept: number,
  first: number,
): View {
  if (view.length > kept)
    return (view instanceof Uint8Array ? new Uint8Array(first) : new Int32Array(first)) as View;
  view.fill(0, 0, used);
  return view;
}

/**
 * Collects the postings of one segment after another. Texts come in ascending order of their offsets, and each gram is
 * counted once per text. Memory: at most one bitmap of a window per gram, in practice less than the texts. Between
 * segments it keeps at most 40 MB.
 */
export class PostingsBuilder {
  #slots = new Int32Array(firstSlots);
  #slotCount = 1; // slot 0 is reserved
  #arena = new Uint8Array(firstArenaBytes);
  #arenaEnd = 0;
  /** Slots of grams that only have ASCII, indexed by 7 bits per code point. 0: no slot. */
  readonly #ascii = new Int32Array(asciiGrams);
  /** Slots of all other grams, with open addressing. 0: free. */
  #wide = new Int32Array(firstWide);
  #wideCount = 0;

  /**
   * Begins another segment and reuses the arrays. New arrays for each segment, 45 MB, would wait for the garbage
   * collector.
   */
  clear(): void {
    this.#slots = emptied(this.#slots, this.#slotCount * fields, keptNumbers, firstSlots);
    this.#slotCount = 1;
    this.#arena = emptied(this.#arena, this.#arenaEnd, keptArenaBytes, firstArenaBytes);
    this.#arenaEnd = 0;
    this.#ascii.fill(0);
    this.#wide = emptied(this.#wide, this.#wide.length, keptNumbers, firstWide);
    this.#wideCount = 0;
  }

  /**
   * Adds a folded text (valid UTF-8 without NUL). Offsets ascend from call to call. Returns the number of bytes that
   * are not the first byte of a character.
   */
  add(offset: number, text: Uint8Array): number {
    const end = text.length;
    let wideBytes = 0;
    let first = 0;
    let middle = 0;
    for (let at = 0; at < end; ) {
      let last = text[at++]!;
      if (last >= 0x80) {
        const more = last < 0xe0 ? 1 : last < 0xf0 ? 2 : 3;
        wideBytes += more;
        last &= 0x3f >> more;
        for (const next = at + more; at < next; at++) last = (last << 6) | (text[at]! & 0x3f);
      }
      this.#addGram(0, 0, last, offset);
      if (middle !== 0) this.#addGram(0, middle, last, offset);
      if (first !== 0) this.#addGram(first, middle, last, offset);
      first = middle;
      middle = last;
    }
    return wideBytes;
  }

  #addGram(first: number, middle: number, last: number, offset: number): void {
    const slot =
      (first | middle | last) < 0x80
        ? this.#asciiSlot(first, middle, last)
        : this.#wideSlot(gramHigh(first, middle), gramLow(middle, last) | 0);
    const base = slot * fields;
    const slots = this.#slots;
    const before = slots[base + lastField]!;
    if (before === offset) return;
    slots[base + lastField] = offset;
    if (slots[base + sizeField] === inBitmap) {
      const byte = slots[base + headField]! + (offset >>> 3);
      this.#arena[byte] = this.#arena[byte]! | (1 << (offset & 7));
    } else this.#append(base, offset - before - 1);
  }

  #asciiSlot(first: number, middle: number, last: number): number {
    const index = asciiIndex(first, middle, last);
    const slot = this.#ascii[index]!;
    if (slot !== 0) return slot;
    return (this.#ascii[index] = this.#newSlot(gramHigh(first, middle), gramLow(middle, last)));
  }

  #wideSlot(high: number, low: number): number {
    const at = this.#wideAt(high, low);
    const slot = this.#wide[at]!;
    if (slot !== 0) return slot;
    const made = this.#newSlot(high, low);
    this.#wide[at] = made;
    // at most half full, so that runs stay short
    if (++this.#wideCount * 2 > this.#wide.length) this.#growWide();
    return made;
  }

  /** Index of a gram in the table, or the free index where it would be added. */
  #wideAt(high: number, low: number): number {
    const mask = this.#wide.length - 1;
    let hash = Math.imul(high, 0x9e3779b1) ^ Math.imul(low, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    for (let at = (hash ^ (hash >>> 13)) & mask; ; at = (at + 1) & mask) {
      const slot = this.#wide[at]!;
      if (slot === 0) return at;
      const base = slot * fields;
      if (this.#slots[base + highField] === high && this.#slots[base + lowField] === low) return at;
    }
  }

  #growWide(): void {
    const before = this.#wide;
    this.#wide = new Int32Array(before.length * 2);
    for (const slot of before) {
      if (slot === 0) continue;
      const base = slot * fields;
      this.#wide[this.#wideAt(this.#slots[base + highField]!, this.#slots[base + lowField]!)] = slot;
    }
  }

  #newSlot(high: number, low: number): number {
    const slot = this.#slotCount++;
    const base = slot * fields;
    if (base + fields > this.#slots.length) this.#slots = grown(this.#slots, base, base + fields);
    this.#slots[base + highField] = high;
    this.#slots[base + lowField] = low;
    this.#slots[base + lastField] = -1;
    return slot;
  }

  /** Adds a gap to a list. If the list becomes larger than a bitmap, it is converted to a bitmap. */
  #append(base: number, gap: number): void {
    const slots = this.#slots;
    for (let rest = gap; ; rest >>>= 7) {
      let to = slots[base + writeField]!;
      if (to === slots[base + endField]) to = this.#newChunk(base);
      this.#arena[to] = rest < 0x80 ? rest : (rest & 0x7f) | 0x80;
      slots[base + writeField] = to + 1;
      slots[base + sizeField] = slots[base + sizeField]! + 1;
      if (rest < 0x80) break;
    }
    if (slots[base + sizeField]! > bitmapBytes) this.#becomeBitmap(base);
  }

  /** Links a new chunk to a list. Returns the start of its data. */
  #newChunk(base: number): number {
    const slots = this.#slots;
    const size = slots[base + sizeField]!;
    const bytes = chunkBytes(size);
    const chunk = this.#reserve(bytes);
    if (size === 0) slots[base + headField] = chunk;
    else this.#putPlace(slots[base + endField]!, chunk);
    slots[base + endField] = chunk + bytes - placeBytes;
    return chunk;
  }

  /** Reserves `bytes` zero bytes in the arena. */
  #reserve(bytes: number): number {
    const at = this.#arenaEnd;
    this.#arenaEnd = at + bytes;
    if (this.#arenaEnd > this.#arena.length) this.#arena = grown(this.#arena, at, this.#arenaEnd);
    return at;
  }

  #putPlace(at: number, place: number): void {
    const arena = this.#arena;
    arena[at] = place;
    arena[at + 1] = place >>> 8;
    arena[at + 2] = place >>> 16;
    arena[at + 3] = place >>> 24;
  }

  #place(at: number): number {
    const arena = this.#arena;
    const low = arena[at]! | (arena[at + 1]! << 8);
    return (low | (arena[at + 2]! << 16) | (arena[at + 3]! << 24)) >>> 0;
  }

  #becomeBitmap(base: number): void {
    const bits = new Uint8Array(bitmapBytes);
    const list = new Uint8Array(this.#slots[base + sizeField]!);
    this.#readList(base, list);
    setListBits(list, bits);
    const at = this.#reserve(bitmapBytes);
    this.#arena.set(bits, at);
    this.#slots[base + headField] = at;
    this.#slots[base + sizeField] = inBitmap;
  }

  /** Copies a list, chunk by chunk. */
  #readList(base: number, out: Uint8Array): void {
    const size = this.#slots[base + sizeField]!;
    let chunk = this.#slots[base + headField]!;
    for (let done = 0; done < size; ) {
      const data = chunkBytes(done) - placeBytes;
      const part = Math.min(data, size - done);
      out.set(this.#arena.subarray(chunk, chunk + part), done);
      done += part;
      if (done < size) chunk = this.#place(chunk + data);
    }
  }

  /**
   * The slots in ascending order of their grams. On all supported machines the low half of a 64-bit number comes first.
   */
  #sortedSlots(): Int32Array {
    const count = this.#slotCount - 1;
    const keys = new BigUint64Array(count);
    const halves = new Int32Array(keys.buffer);
    for (let index = 0; index < count; index++) {
      const base = (index + 1) * fields;
      halves[index * 2] = this.#slots[base + lowField]!;
      halves[index * 2 + 1] = this.#slots[base + highField]!;
    }
    keys.sort();
    const sorted = new Int32Array(count);
    for (let index = 0; index < count; index++) {
      sorted[index] = this.#slotOf(halves[index * 2 + 1]!, halves[index * 2]!);
    }
    return sorted;
  }

  #slotOf(high: number, low: number): number {
    const first = gramFirst(high);
    const middle = gramMiddle(high, low);
    const last = gramLast(low);
    if ((first | middle | last) < 0x80) return this.#ascii[asciiIndex(first, middle, last)]!;
    return this.#wide[this.#wideAt(high, low)]!;
  }

  /**
   * A test whether about `texts` texts or more have a gram. Postings have a byte or more for each text. A bitmap is
   * only used for grams of more texts.
   */
  frequentGrams(texts: number): (first: number, middle: number, last: number) => boolean {
    const slots = this.#slots;
    const isFrequent = (base: number): boolean =>
      slots[base + sizeField] === inBitmap || slots[base + sizeField]! >= texts;
    // Most texts only have ASCII, so a bit for each of these grams answers from the cache of a core. The filter rejects
    // most other grams without a look into the large tables.
    const ascii = new Int32Array(asciiGrams >>> 5);
    const filter = new Uint8Array(filterBytes);
    for (let slot = 1; slot < this.#slotCount; slot++) {
      const base = slot * fields;
      if (!isFrequent(base)) continue;
      const high = slots[base + highField]!;
      const low = slots[base + lowField]!;
      const [first, middle, last] = [gramFirst(high), gramMiddle(high, low), gramLast(low)];
      const index = asciiIndex(first, middle, last);
      if ((first | middle | last) < 0x80) ascii[index >>> 5]! |= 1 << (index & 31);
      else filter[filterPlace(high, low)] = 1;
    }
    return (first, middle, last) => {
      if ((first | middle | last) < 0x80) {
        const index = asciiIndex(first, middle, last);
        return ((ascii[index >>> 5]! >>> (index & 31)) & 1) === 1;
      }
      const high = gramHigh(first, middle);
      const low = gramLow(middle, last) | 0;
      return filter[filterPlace(high, low)] === 1 && isFrequent(this.#slotOf(high, low) * fields);
    };
  }

  /** Returns the blocks of everything that was added, and of its passages. */
  finish(passages: Uint8Array | null = null): PostingsBlocks {
    const writer = new BlocksWriter();
    const list = new Uint8Array(bitmapBytes + 4);
    const bits = new Uint8Array(bitmapBytes);
    for (const slot of this.#sortedSlots()) {
      const base = slot * fields;
      const high = this.#slots[base + highField]!;
      const low = this.#slots[base + lowField]!;
      const size = this.#slots[base + sizeField]!;
      if (size === inBitmap) {
        const at = this.#slots[base + headField]!;
        writer.putBitmap(high, low, this.#arena.subarray(at, at + bitmapBytes));
        continue;
      }
      this.#readList(base, list);
      const offsets = list.subarray(0, size);
      // size of a bitmap from the byte of the first offset to the byte of the last offset
      const bitmapSize = (this.#slots[base + lastField]! >>> 3) - (firstOffset(offsets) >>> 3) + 3;
      if (size <= bitmapSize) writer.putList(high, low, offsets);
      else {
        bits.fill(0);
        setListBits(offsets, bits);
        writer.putBitmap(high, low, bits);
      }
    }
    if (passages !== null) writer.putPassages(passages);
    return writer.finish();
  }
}

/** Size of the filter of frequent grams. It fits the cache of a core, and has some hundred frequent grams. */
const filterBytes = 1 << 15;

const filterPlace = (high: number, low: number): number =>
  (Math.imul(high, 0x9e3779b1) ^ Math.imul(low, 0x85ebca6b)) >>> 17;

function firstOffset(list: Uint8Array): number {
  let offset = 0;
  for (let at = 0, shift = 0; ; at++, shift += 7) {
    const byte = list[at]!;
    offset |= (byte & 0x7f) << shift;
    if (byte < 0x80) return offset;
  }
}

function setListBits(list: Uint8Array, bits: Uint8Array): void {
  addPostings({ block: list, start: 0, end: list.length, isBitmap: false }, bits);
}
