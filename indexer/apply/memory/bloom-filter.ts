/**
 * Number of bits per entry; 7 of them are set. This gives 0.8 % false positives while a part holds no more than its
 * planned entries.
 */
const bitsPerEntry = 10;
const bitsSet = 7;
const firstCapacity = 1 << 20;

interface Part {
  readonly bits: Uint8Array;
  readonly bitCount: number;
  readonly capacity: number;
  count: number;
}

/**
 * A filter of sha256 hashes: it answers that a hash was certainly never added, or that it may have been added. The
 * filter grows by parts, each twice as large as the part before, so no entry is inserted twice. 50,000,000 entries take
 * 79 MB. The seven bits come from the hash itself. Hashes crafted to collide only cause more database queries.
 */
export class BloomFilter {
  readonly #parts: Part[] = [];

  /**
   * @param expected number of entries that will be added soon. One first part that holds them all is faster to query
   * than many parts.
   */
  constructor(expected = 0) {
    this.#addPart(Math.max(firstCapacity, expected));
  }

  get sizeBytes(): number {
    return this.#parts.reduce((sum, { bits }) => sum + bits.length, 0);
  }

  add(hashes: Uint8Array, at: number, variant: number): void {
    let part = this.#parts.at(-1) as Part;
    if (part.count === part.capacity) part = this.#addPart(part.capacity * 2);
    part.count++;
    for (let word = 0; word < bitsSet; word++) {
      const bit = bitOf(hashes, at, word, variant, part.bitCount);
      part.bits[bit >>> 3] = part.bits[bit >>> 3]! | (1 << (bit & 7));
    }
  }

  mayHave(hashes: Uint8Array, at: number, variant: number): boolean {
    return this.#parts.some((part) => partMayHave(part, hashes, at, variant));
  }

  #addPart(capacity: number): Part {
    const bitCount = capacity * bitsPerEntry;
    const part = { bits: new Uint8Array(Math.ceil(bitCount / 8)), bitCount, capacity, count: 0 };
    this.#parts.push(part);
    return part;
  }
}

function partMayHave(part: Part, hashes: Uint8Array, at: number, variant: number): boolean {
  for (let word = 0; word < bitsSet; word++) {
    const bit = bitOf(hashes, at, word, variant, part.bitCount);
    if ((part.bits[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/**
 * The bit of one of seven words of the hash, scaled to the number of bits. The first word is not used here, because
 * caches use it.
 */
function bitOf(hashes: Uint8Array, at: number, word: number, variant: number, bitCount: number): number {
  const from = at + 4 + word * 4;
  const value =
    (hashes[from]! | (hashes[from + 1]! << 8) | (hashes[from + 2]! << 16) | (hashes[from + 3]! << 24)) ^
    Math.imul(variant, 0x85ebca6b);
  return Math.floor(((value >>> 0) / 2 ** 32) * bitCount);
}
