import { withRoom } from '#kernel/growable.ts';

/** Number of 32-bit words in an outpoint: its 36 bytes, little endian. */
export const outpointWords = 9;
export const outpointLength = outpointWords * 4;

/** Ranges of an output: pairs (first sat, first sat after the range) in a shared list. */
export interface Ranges {
  readonly pairs: Float64Array;
  /** Index of the first pair. */
  readonly first: number;
  /** Number of ranges. */
  readonly count: number;
}

/** Reads the first words of an outpoint. */
export function readWords(view: DataView, at: number, into: Int32Array, count: number): void {
  for (let word = 0; word < count; word++) into[word] = view.getInt32(at + word * 4, true);
}

/** States of a row. */
export const outputFates = {
  /** Its ranges are unknown: they are queried, or a block of the batch will make the output. */
  asked: 0,
  unspent: 1,
  spent: 2,
  /** Deleted: dropped from memory, or spent by an earlier batch. */
  gone: 3,
} as const;

/**
 * Number of words in a row: the outpoint first, then the fields below. A row has 64 bytes, like a cache line of the
 * processor.
 */
const rowWords = 16;
const fingerprintAt = outpointWords;
const heightAt = outpointWords + 1;
const firstAt = outpointWords + 2;
const countAt = outpointWords + 3;
const fateAt = outpointWords + 4;
/** Row + 1 of the next row in the same slot; 0 at the end. */
const nextAt = outpointWords + 5;

const firstRows = 64;
/** Minimum room, which is never released: 5 MB of rows with their slots, and 2 MB of ranges. */
const leastRows = 1 << 16;
const leastNumbers = 1 << 18;

/**
 * Outputs and their ranges of sats by outpoint, in typed arrays: 64 bytes per row, 4 to 8 bytes for its slot, and 16
 * bytes per range. An object, a text and a Map entry for each output took several times as long.
 *
 * Rows of one slot are chained, the newest first. Slots come from keyed fingerprints, so outpoints cannot be crafted to
 * share a slot. All 36 bytes are compared, so a collision does no harm. An outpoint can have several rows, because two
 * coinbases can have the same txid (BIP 30).
 */
export class SatOutputs {
  /** Number of rows, including deleted rows. */
  size = 0;
  /** Number of rows that are not deleted. `numbers` is the length of the ranges of these rows. */
  left = 0;
  numbers = 0;
  /** Pairs (first sat, first sat after the range) of all rows. */
  pairs: Float64Array;
  #used = 0;
  #rows: Int32Array;
  #room: number;
  #slots: Int32Array;

  /** @param rows initial room in rows */
  constructor(rows = firstRows) {
    this.#room = rows;
    this.#rows = new Int32Array(rows * rowWords);
    this.#slots = new Int32Array(slotsFor(rows));
    // most outputs have one or two ranges; memory pages that are never written take no memory
    this.pairs = new Float64Array(rows * 4);
  }

  /** State of a row, one of `outputFates`. */
  fateOf(row: number): number {
    return this.#rows[row * rowWords + fateAt]!;
  }

  setFate(row: number, fate: number): void {
    this.#rows[row * rowWords + fateAt] = fate;
  }

  /** Height of the block that made the row's output. -1: unknown. */
  heightOf(row: number): number {
    return this.#rows[row * rowWords + heightAt]!;
  }

  /** Index of a row's first pair. */
  firstOf(row: number): number {
    return this.#rows[row * rowWords + firstAt]!;
  }

  /** Number of ranges of a row. */
  countOf(row: number): number {
    return this.#rows[row * rowWords + countAt]!;
  }

  fingerprintOf(row: number): number {
    return this.#rows[row * rowWords + fingerprintAt]!;
  }

  /** One of the nine words of a row's outpoint. */
  wordOf(row: number, word: number): number {
    return this.#rows[row * rowWords + word]!;
  }

  /**
   * The newest row of an outpoint. -1: not in the table.
   *
   * @param fingerprint keyed fingerprint of the outpoint, as a signed number
   * @param words begins with the nine words of the outpoint
   */
  find(fingerprint: number, words: Int32Array): number {
    return this.#matching(this.#slots[fingerprint & (this.#slots.length - 1)]! - 1, fingerprint, words, 0);
  }

  /** The newest row with the same outpoint as a row of another table. -1: not in this table. */
  findAs(other: SatOutputs, row: number): number {
    const fingerprint = other.fingerprintOf(row);
    const newest = this.#slots[fingerprint & (this.#slots.length - 1)]! - 1;
    return this.#matching(newest, fingerprint, other.#rows, row * rowWords);
  }

  /** The row of the same outpoint that was added before `row`. -1: there is no older row. */
  older(row: number): number {
    const at = row * rowWords;
    return this.#matching(this.#rows[at + nextAt]! - 1, this.#rows[at + fingerprintAt]!, this.#rows, at);
  }

  #matching(newest: number, fingerprint: number, words: Int32Array, from: number): number {
    const rows = this.#rows;
    for (let row = newest; row >= 0; ) {
      const at = row * rowWords;
      if (rows[at + fingerprintAt] === fingerprint) {
        let same = 0;
        while (same < outpointWords && rows[at + same] === words[from + same]) same++;
        if (same === outpointWords) return row;
      }
      row = rows[at + nextAt]! - 1;
    }
    return -1;
  }

  /** Adds a row without ranges, in state `asked`. */
  add(fingerprint: number, words: Int32Array, height: number): number {
    return this.#add(fingerprint, words, 0, height);
  }

  /** Copies a row of another table, together with its ranges. */
  addAs(other: SatOutputs, row: number): number {
    const own = this.#add(other.fingerprintOf(row), other.#rows, row * rowWords, -1);
    this.giveAs(own, other, row);
    return own;
  }

  #add(fingerprint: number, words: Int32Array, from: number, height: number): number {
    const row = this.size;
    if (row === this.#room) this.#moveRows(row + (row >> 1) + 1);
    this.size++;
    this.left++;
    const rows = this.#rows;
    const at = row * rowWords;
    for (let word = 0; word < outpointWords; word++) rows[at + word] = words[from + word]!;
    rows[at + fingerprintAt] = fingerprint;
    rows[at + heightAt] = height;
    rows[at + countAt] = 0;
    rows[at + fateAt] = outputFates.asked;
    this.#link(row);
    return row;
  }

  /** Sets the ranges of a row, once, and marks the row as unspent. */
  give(row: number, height: number, { pairs, first, count }: Ranges): void {
    const from = this.#used;
    const numbers = count * 2;
    this.#used += numbers;
    this.numbers += numbers;
    if (this.#used > this.pairs.length) this.pairs = withRoom(this.pairs, this.#used);
    for (let at = 0; at < numbers; at++) this.pairs[from + at] = pairs[first * 2 + at]!;
    const own = row * rowWords;
    this.#rows[own + heightAt] = height;
    this.#rows[own + firstAt] = from / 2;
    this.#rows[own + countAt] = count;
    this.#rows[own + fateAt] = outputFates.unspent;
  }

  /** Sets the ranges of a row to the ranges of another table's row. */
  giveAs(own: number, other: SatOutputs, row: number): void {
    this.give(own, other.heightOf(row), other.rangesOf(row));
  }

  rangesOf(row: number): Ranges {
    return { pairs: this.pairs, first: this.firstOf(row), count: this.countOf(row) };
  }

  /** Deletes a row. Its room is free once the gaps are closed. */
  remove(row: number): void {
    this.#unlink(row);
    this.setFate(row, outputFates.gone);
    this.left--;
    this.numbers -= this.countOf(row) * 2;
  }

  /**
   * Makes room for more rows and numbers. Numbers must then be added in the order of the rows. If a quarter of the
   * table is deleted, the gaps are closed first; otherwise the table grows by half. So the table has room for at most
   * twice its contents.
   */
  reserve(rows: number, numbers: number): void {
    if (this.size + rows <= this.#room && this.#used + numbers <= this.pairs.length) return;
    if (this.left < this.size * 0.75 || this.numbers < this.#used * 0.75) this.#closeGaps();
    if (this.size + rows > this.#room)
      this.#moveRows(Math.max(this.size + rows, this.size + (this.size >> 1)));
    const used = this.#used + numbers;
    if (used <= this.pairs.length) return;
    const grown = new Float64Array(Math.max(used, this.#used + (this.#used >> 1)));
    grown.set(this.pairs.subarray(0, this.#used));
    this.pairs = grown;
  }

  /**
   * Releases memory after a peak: if there is room for four times the contents, the table keeps room for twice the
   * contents. Forgetting half of a full table is not a peak, because more than a quarter is left.
   */
  shrink(): void {
    const rows = Math.max(leastRows, this.left * 2);
    const numbers = Math.max(leastNumbers, this.numbers * 2);
    if (this.#room <= rows * 2 && this.pairs.length <= numbers * 2) return;
    this.#closeGaps();
    if (this.#room > rows) this.#moveRows(rows);
    if (this.pairs.length > numbers) this.pairs = this.pairs.slice(0, numbers);
  }

  /** Closes the gaps of deleted rows. Rows keep their order. */
  #closeGaps(): void {
    const rows = this.#rows;
    const last = this.size;
    this.size = 0;
    this.#used = 0;
    this.#slots.fill(0);
    for (let row = 0; row < last; row++) {
      if (this.fateOf(row) === outputFates.gone) continue;
      const numbers = this.countOf(row) * 2;
      const from = this.firstOf(row) * 2;
      for (let at = 0; at < numbers; at++) this.pairs[this.#used + at] = this.pairs[from + at]!;
      const to = this.size++;
      const [fromWord, toWord] = [row * rowWords, to * rowWords];
      for (let word = 0; word < rowWords; word++) rows[toWord + word] = rows[fromWord + word]!;
      rows[toWord + firstAt] = this.#used / 2;
      this.#used += numbers;
      this.#link(to);
    }
  }

  #link(row: number): void {
    const at = row * rowWords;
    const slot = this.#rows[at + fingerprintAt]! & (this.#slots.length - 1);
    this.#rows[at + nextAt] = this.#slots[slot]!;
    this.#slots[slot] = row + 1;
  }

  #unlink(row: number): void {
    const rows = this.#rows;
    const slot = this.fingerprintOf(row) & (this.#slots.length - 1);
    const next = rows[row * rowWords + nextAt]!;
    let before = this.#slots[slot]! - 1;
    if (before === row) {
      this.#slots[slot] = next;
      return;
    }
    while (rows[before * rowWords + nextAt] !== row + 1) before = rows[before * rowWords + nextAt]! - 1;
    rows[before * rowWords + nextAt] = next;
  }

  /** Moves the rows into a table with the given room. */
  #moveRows(room: number): void {
    const rows = new Int32Array(room * rowWords);
    rows.set(this.#rows.subarray(0, this.size * rowWords));
    this.#rows = rows;
    this.#room = room;
    const slots = slotsFor(room);
    if (slots === this.#slots.length) return;
    this.#slots = new Int32Array(slots);
    for (let row = 0; row < this.size; row++) if (this.fateOf(row) !== outputFates.gone) this.#link(row);
  }
}

function slotsFor(rows: number): number {
  let slots = firstRows;
  while (slots < rows) slots *= 2;
  return slots;
}
