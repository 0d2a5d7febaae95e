import { withRoom } from '#kernel/growable.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { smallU128, type U128 } from '#kernel/runes/u128.ts';

/** A txid as eight numbers of 32 bits. */
const txidWords = 8;
const voutAt = txidWords;
const outpointWords = txidWords + 1;
/** Words of a row: the outpoint first, then these. A row is 80 bytes. */
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
/** Row + 1 of the next row in the same slot, 0 at the end. */
const nextAt = outpointWords + 10;
const notSpent = -1;
/** A pending transaction has a table of its own. */
const firstRows = 4;
const wordBytes = 4;
const rowBytes = rowWords * wordBytes;
const hashLength = txidWords * wordBytes;

/** The byte order of the machine: so read, the words of a txid have its bytes in memory. */
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
 * Outputs with their balances of runes by outpoint, in typed arrays: 80 bytes a row, 4 to 8 for its slot and 12 for
 * each balance. Objects for each output, and texts that named outpoints, took several times the time, and as much again
 * to collect them.
 *
 * Rows of one slot are chained, the newest first. Slots are taken from keyed fingerprints, so nobody can choose
 * outpoints that fall into one; all 36 bytes are compared, so a collision never matters.
 */
export class RuneOutputs {
  /** Rows. */
  size = 0;
  /** Balances of all rows. */
  balances = 0;
  #words: Int32Array<ArrayBuffer>;
  /** The same memory: a row begins with the 32 bytes of its txid. */
  bytes: Uint8Array;
  #slots: Int32Array;
  #keys: Int32Array;
  /** NaN: it is among the large ones. */
  #amounts: Float64Array;
  readonly #large = new Map<number, U128>();

  /** @param rows that it has room for from the beginning: a page that is never written takes no memory */
  constructor(rows = firstRows) {
    this.#words = new Int32Array(rows * rowWords);
    this.bytes = new Uint8Array(this.#words.buffer);
    this.#slots = new Int32Array(slotsFor(rows));
    // most have one
    this.#keys = new Int32Array(rows);
    this.#amounts = new Float64Array(rows);
  }

  /** Adds an output, which the 36 bytes at `at` name, without balances. It is unspent. Returns its row. */
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

  /** Adds the row of another table, with its balances. It is unspent. */
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

  /** Tells where the script of a row is in its block. */
  setScript(row: number, start: number, length: number): void {
    this.#words[row * rowWords + scriptStartAt] = start;
    this.#words[row * rowWords + scriptLengthAt] = length;
  }

  /** Marks a row as spent. */
  spend(row: number, height: number, tx: number): void {
    this.#words[row * rowWords + spentHeightAt] = height;
    this.#words[row * rowWords + spentTxAt] = tx;
  }

  /** The row of the output that the 36 bytes at `at` name, and that has this fingerprint; -1: there is none. */
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

  /** Whether an output has this fingerprint. Nearly all have none, and it costs one look into the slots. */
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

  /** A copy. */
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

  /** Of the block that spends it, if it is spent. */
  spentHeightOf(row: number): number {
    return this.#words[row * rowWords + spentHeightAt]!;
  }

  spentTxOf(row: number): number {
    return this.#words[row * rowWords + spentTxAt]!;
  }

  /** Its first balance; the others follow, in the order in which they were given. */
  firstOf(row: number): number {
    return this.#words[row * rowWords + firstAt]!;
  }

  /** How many balances it has. */
  countOf(row: number): number {
    return this.#words[row * rowWords + countAt]!;
  }

  /** The rune of a balance. */
  keyOf(balance: number): number {
    return this.#keys[balance]!;
  }

  amountOf(balance: number): U128 {
    return this.#large.get(balance) ?? smallU128(this.#amounts[balance]!);
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

/** A power of two, and a slot and more for each row. */
function slotsFor(rows: number): number {
  let slots = firstRows;
  while (slots <= rows) slots *= 2;
  return slots;
}
