const bitsOf = Uint8Array.from({ length: 256 }, (_, byte) => {
  let bits = 0;
  for (let rest = byte; rest !== 0; rest &= rest - 1) bits++;
  return bits;
});

/**
 * The 32-bit words of a bitmap, and the index of the first byte after them. On all supported machines the low byte of a
 * word comes first. Most bitmaps of a search have few bits, so most words are 0 and are passed at once.
 */
function wordsOf(bits: Uint8Array): { words: Uint32Array; end: number } {
  const isAligned = bits.byteOffset % 4 === 0;
  const words = isAligned ? new Uint32Array(bits.buffer, bits.byteOffset, bits.length >>> 2) : noWords;
  return { words, end: words.length * 4 };
}

const noWords = new Uint32Array(0);

/** Counts the set bits of a bitmap. */
export function countBits(bits: Uint8Array): number {
  const { words, end } = wordsOf(bits);
  let count = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === 0) continue;
    count +=
      bitsOf[word & 0xff]! +
      bitsOf[(word >>> 8) & 0xff]! +
      bitsOf[(word >>> 16) & 0xff]! +
      bitsOf[word >>> 24]!;
  }
  for (let at = end; at < bits.length; at++) count += bitsOf[bits[at]!]!;
  return count;
}

/** Calls `each` with the index of every set bit, ascending. The lowest bit of a byte comes first. */
export function eachBit(bits: Uint8Array, each: (index: number) => void): void {
  const { words, end } = wordsOf(bits);
  for (let at = 0; at < words.length; at++) {
    for (let rest = words[at]!; rest !== 0; rest &= rest - 1) {
      each((at << 5) + 31 - Math.clz32(rest & -rest));
    }
  }
  for (let at = end; at < bits.length; at++) {
    for (let rest = bits[at]!; rest !== 0; rest &= rest - 1) {
      each((at << 3) + 31 - Math.clz32(rest & -rest));
    }
  }
}

/** Keeps the bits that `other` has as well. */
export function intersect(bits: Uint8Array, other: Uint8Array): void {
  for (let at = 0; at < bits.length; at++) bits[at] = bits[at]! & other[at]!;
}

/** A set of ids below a bound: a bitmap that grows. */
export class IdSet {
  #bits = new Uint8Array(1024);

  /** Adds one id. */
  add(id: number): void {
    this.#reserve((id >>> 3) + 1);
    this.#bits[id >>> 3] = this.#bits[id >>> 3]! | (1 << (id & 7));
  }

  /** Adds the ids of a bitmap that starts at `baseId` (a multiple of 8). */
  addBits(baseId: number, bits: Uint8Array): void {
    this.#reserve((baseId >>> 3) + bits.length);
    const start = baseId >>> 3;
    for (let at = 0; at < bits.length; at++) {
      this.#bits[start + at] = this.#bits[start + at]! | bits[at]!;
    }
  }

  /** The number of ids. */
  count(): number {
    return countBits(this.#bits);
  }

  /** The ids, ascending. */
  ids(): number[] {
    const ids: number[] = [];
    eachBit(this.#bits, (id) => {
      ids.push(id);
    });
    return ids;
  }

  /** The current bitmap. Ids from `bits.length * 8` on are not in the set. */
  get bits(): Uint8Array {
    return this.#bits;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#bits.length) return;
    const larger = new Uint8Array(Math.max(bytes, this.#bits.length * 2));
    larger.set(this.#bits);
    this.#bits = larger;
  }
}
