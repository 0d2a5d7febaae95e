import { withRoom } from '#kernel/growable.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { smallU128, type U128 } from '#kernel/runes/u128.ts';

/** Number of 32-bit words in a txid. */
const txidWords = 8;
const voutAt = txidWords;
const outpointWords = txidWords + 1;
/** Number of words in a row (80 bytes): the outpoint first, then the fields below. */
const rowWords = 20;
const lowAt = outpointWords;
const highAt = outpointWords + 1;
const heightAt = outpointWords + 2;
const txAt = outpointWords + 3;
const scriptStartAt = outpointWords + 4;
const scriptLengthAt = outpointWords + 5;
const firstAt = outpointWords + 6;
const countAt = outpointWords + 7;
const spentHeightAt = outpointWords + 8;
const spentTxAt = outpointWords + 9;
/** Row + 1 of the next row in the same slot; 0 at the end. */
const nextAt = outpointWords + 10;
const notSpent = -1;
/** Number of rows in a new table. It is small because each pending transaction has its own table. */
const firstRows = 4;
const wordBytes = 4;
const rowBytes = rowWords * wordBytes;
const hashLength = txidWords * wordBytes;

/** The byte order of the machine. On a little-endian machine, the words of a txid are its bytes in memory. */
const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** An output that holds runes, and the transaction that made it. */
export interface OutputPlace {
  readonly height: number;
  readonly tx: number;
  /** Both halves of the keyed fingerprint of its outpoint. */
  readonly low: number;
  readonly high: number;
}

/**
 * Outputs with their balances of runes by outpoint, in typed arrays: 80 bytes per row, 4 to 8 bytes for its slot and 12
 * bytes for each balance. Objects and text keys took several times as long, and doubled garbage collection.
 *
 * Rows of one slot are chained, the newest first. Slots come from keyed fingerprints, so outpoints cannot be crafted to
 * share a slot. All 36 bytes are compared, so a collision does no harm.
 */
export class RuneOutputs {
  /** Number of rows, which is the number of outputs. */
  size = 0;
  /** Number of balances of all rows. */
  balances = 0;
  #words: Int32Array<ArrayBuffer>;
  /** Bytes of `words`: a row begins with the 32 bytes of its txid. */
  bytes: Uint8Array;
  #slots: Int32Array;
  #keys: Int32Array;
  /** Amount of each balance. NaN: the amount is in the map of large amounts. */
  #amounts: Float64Array;
  readonly #large = new Map<number, U128>();

  /** @param rows initial room in rows; memory pages that are never written take no memory */
  constructor(rows = firstRows) {
    this.#words = new Int32Array(rows * rowWords);
    this.bytes = new Uint8Array(this.#words.buffer);
    this.#slots = new Int32Array(slotsFor(rows));
    // most outputs have one balance
    this.#keys = new Int32Array(rows);
    this.#amounts = new Float64Array(rows);
  }

  /** Adds an unspent output without balances. The 36 bytes at `at` are its outpoint. Returns its row. */
  add(outpoint: DataView, at: number, { height, tx, low, high }: OutputPlace): number {
    const row = this.#addRow();
    const words = this.#words;
    const own = row * rowWords;
    for (let word = 0; word < txidWords; word++)
      words[own + word] = outpoint.getInt32(at + word * wordBytes, isLittleEndian);
    words[own + voutAt] = outpoint.getInt32(at + hashLength, true);
    words[own + lowAt] = low;
    words[own + highAt] = high;
    words[own + heightAt] = height;
    words[own + txAt] = tx;
    this.#link(row);
    return row;
  }

  /** Copies a row of another table with its balances, as unspent. Returns its row here. */
  addAs(other: RuneOutputs, from: number): number {
    const row = this.#addRow();
    const words = this.#words;
    const [own, old] = [row * rowWords, from * rowWords];
    for (let word = 0; word < firstAt; word++) words[own + word] = other.#words[old + word]!;
    const first = other.firstOf(from);
    const end = first + other.countOf(from);
    for (let balance = first; balance < end; balance++)
      this.give(other.keyOf(balance), other.amountOf(balance));
    this.#link(row);
    return row;
  }

  /** Adds a balance to the newest row. */
  give(key: number, amount: U128): void {
    const balance = this.balances++;
    if (balance === this.#keys.length) {
      this.#keys = withRoom(this.#keys, balance + 1);
      this.#amounts = withRoom(this.#amounts, balance + 1);
    }
    this.#keys[balance] = key;
    if (typeof amount === 'number') this.#amounts[balance] = amount;
    else {
      this.#amounts[balance] = Number.NaN;
      this.#large.set(balance, amount);
    }
    this.#words[(this.size - 1) * rowWords + countAt]! += 1;
  }

  /** Sets the range of a row's script in its block. */
  setScript(row: number, start: number, length: number): void {
    this.#words[row * rowWords + scriptStartAt] = start;
    this.#words[row * rowWords + scriptLengthAt] = length;
  }

  /** Marks a row as spent. */
  spend(row: number, height: number, tx: number): void {
    this.#words[row * rowWords + spentHeightAt] = height;
    this.#words[row * rowWords + spentTxAt] = tx;
  }

  /** The row of the output whose outpoint is the 36 bytes at `at`, with this fingerprint. -1: not in the table. */
  find(outpoint: DataView, at: number, low: number, high: number): number {
    const words = this.#words;
    for (let row = this.#newest(low); row >= 0; row = words[row * rowWords + nextAt]! - 1) {
      const own = row * rowWords;
      if (words[own + lowAt] !== (low | 0) || words[own + highAt] !== (high | 0)) continue;
      let same = 0;
      while (
        same < txidWords &&
        words[own + same] === outpoint.getInt32(at + same * wordBytes, isLittleEndian)
      )
        same++;
      if (same === txidWords && words[own + voutAt] === outpoint.getInt32(at + hashLength, true)) return row;
    }
    return -1;
  }

  /**
   * Whether an output has this fingerprint. For nearly all fingerprints the answer is no, after one read of the slots.
   */
  mayHave(low: number, high: number): boolean {
    const words = this.#words;
    for (let row = this.#newest(low); row >= 0; row = words[row * rowWords + nextAt]! - 1) {
      const own = row * rowWords;
      if (words[own + lowAt] === (low | 0) && words[own + highAt] === (high | 0)) return true;
    }
    return false;
  }

  /** Offset in `bytes` of the txid of a row. */
  txidAt(row: number): number {
    return row * rowBytes;
  }

  /** A copy of the txid of a row. */
  txidOf(row: number): Txid {
    return trustedTxid(this.bytes.slice(this.txidAt(row), this.txidAt(row) + hashLength));
  }

  voutOf(row: number): number {
    return this.#words[row * rowWords + voutAt]! >>> 0;
  }

  lowOf(row: number): number {
    return this.#words[row * rowWords + lowAt]! >>> 0;
  }

  highOf(row: number): number {
    return this.#words[row * rowWords + highAt]! >>> 0;
  }

  heightOf(row: number): number {
    return this.#words[row * rowWords + heightAt]!;
  }

  txOf(row: number): number {
    return this.#words[row * rowWords + txAt]!;
  }

  scriptStartOf(row: number): number {
    return this.#words[row * rowWords + scriptStartAt]! >>> 0;
  }

  scriptLengthOf(row: number): number {
    return this.#words[row * rowWords + scriptLengthAt]! >>> 0;
  }

  isSpent(row: number): boolean {
    return this.#words[row * rowWords + spentHeightAt] !== notSpent;
  }

  /** Height of the block that spends a row, if it is spent. */
  spentHeightOf(row: number): number {
    return this.#words[row * rowWords + spentHeightAt]!;
  }

  spentTxOf(row: number): number {
    return this.#words[row * rowWords + spentTxAt]!;
  }

  /** The first balance of a row; the others follow, in the order in which they were given. */
  firstOf(row: number): number {
    return this.#words[row * rowWords + firstAt]!;
  }

  /** Number of balances of a row. */
  countOf(row: number): number {
    return this.#words[row * rowWords + countAt]!;
  }

  /** The rune of a balance. */
  keyOf(balance: number): number {
    return this.#keys[balance]!;
  }

  amountOf(balance: number): U128 {
    const amount = this.#amounts[balance]!;
    return Number.isNaN(amount) ? this.#large.get(balance)! : smallU128(amount);
  }

  #newest(low: number): number {
    return this.#slots[low & (this.#slots.length - 1)]! - 1;
  }

  #addRow(): number {
    const row = this.size;
    if ((row + 1) * rowWords > this.#words.length) this.#grow();
    this.size++;
    const own = row * rowWords;
    this.#words[own + firstAt] = this.balances;
    this.#words[own + countAt] = 0;
    this.#words[own + spentHeightAt] = notSpent;
    return row;
  }

  #link(row: number): void {
    const own = row * rowWords;
    const slot = this.#words[own + lowAt]! & (this.#slots.length - 1);
    this.#words[own + nextAt] = this.#slots[slot]!;
    this.#slots[slot] = row + 1;
  }

  #grow(): void {
    this.#words = withRoom(this.#words, this.#words.length + rowWords);
    this.bytes = new Uint8Array(this.#words.buffer);
    this.#slots = new Int32Array(slotsFor(this.#words.length / rowWords));
    for (let row = 0; row < this.size; row++) this.#link(row);
  }
}

/** Number of slots: a power of two, at least one slot more than rows. */
function slotsFor(rows: number): number {
  let slots = firstRows;
  while (slots <= rows) slots *= 2;
  return slots;
}
