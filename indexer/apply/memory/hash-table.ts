const hashLength = 32;
/** Maximum share of used slots. Above it the table doubles. */
const maxLoad = 0.5;

/** Maps a hash to a slot. Hashes are sha256, so four of their bytes spread well enough. */
export function slotHash(hashes: Uint8Array, at: number, variant: number): number {
  const word = hashes[at]! | (hashes[at + 1]! << 8) | (hashes[at + 2]! << 16) | (hashes[at + 3]! << 24);
  return (word ^ Math.imul(variant, 0x9e3779b1)) >>> 0;
}

export function sameHash(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let index = 0; index < hashLength; index++) if (a[aAt + index] !== b[bAt + index]) return false;
  return true;
}

/**
 * (sha256, variant) -> id in typed arrays, for the entries of one batch. Entries are never removed: the whole table is
 * dropped.
 */
export class HashTable {
  size = 0;
  hashes = new Uint8Array(64 * hashLength);
  variants = new Uint8Array(64);
  ids = new Int32Array(64);
  /** Row + 1; 0 in a free slot. */
  #slots = new Int32Array(128);

  /** The id of the 32 bytes at `at` with that variant. -1 if the table does not have them. */
  find(hashes: Uint8Array, at: number, variant: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = slotHash(hashes, at, variant) & mask; ; slot = (slot + 1) & mask) {
      const row = slots[slot]! - 1;
      if (row < 0) return -1;
      if (this.variants[row] === variant && sameHash(this.hashes, row * hashLength, hashes, at)) {
        return this.ids[row]!;
      }
    }
  }

  /** Adds an entry that `find` did not find. */
  add(hashes: Uint8Array, at: number, variant: number, id: number): void {
    const row = this.size++;
    if (row === this.ids.length) this.#growRows();
    for (let index = 0; index < hashLength; index++) {
      this.hashes[row * hashLength + index] = hashes[at + index]!;
    }
    this.variants[row] = variant;
    this.ids[row] = id;
    if (this.size > this.#slots.length * maxLoad) this.#growSlots();
    else this.#put(row);
  }

  #put(row: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = slotHash(this.hashes, row * hashLength, this.variants[row]!) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = row + 1;
  }

  #growRows(): void {
    const rows = this.ids.length * 2;
    const { hashes, variants, ids } = this;
    this.hashes = new Uint8Array(rows * hashLength);
    this.hashes.set(hashes);
    this.variants = new Uint8Array(rows);
    this.variants.set(variants);
    this.ids = new Int32Array(rows);
    this.ids.set(ids);
  }

  #growSlots(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let row = 0; row < this.size; row++) this.#put(row);
  }
}
