import type { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { type Height, trustedHeight } from '#kernel/primitives/height.ts';
import { type InscriptionKey, trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';

const hashLength = 32;
const idLength = 36;

/** One unspent location in an output, with the data that the ledger needs when the output is spent. */
export interface HeldRow {
  readonly fingerprintLow: number;
  readonly fingerprintHigh: number;
  readonly key: InscriptionKey;
  readonly height: Height;
  readonly step: number;
  readonly satOffset: number;
  /** Txid of the output: 32 bytes of `txids` from `txidAt` on. */
  readonly txids: Uint8Array;
  readonly txidAt: number;
  readonly vout: number;
  /** Txid of the inscription's id: 32 bytes of `idTxids` from `idTxidAt` on. */
  readonly idTxids: Uint8Array;
  readonly idTxidAt: number;
  readonly idIndex: number;
  readonly curse: number;
}

/**
 * Locations by the fingerprint of their output, in typed arrays. Uncommitted blocks made them, or the database returned
 * them for a batch. Rows with the same fingerprint are chained.
 */
export class HeldOutputs {
  size = 0;
  key = new Int32Array(64);
  height = new Int32Array(64);
  step = new Uint32Array(64);
  satOffset = new Float64Array(64);
  vout = new Uint32Array(64);
  curse = new Uint8Array(64);
  txid = new Uint8Array(64 * hashLength);
  id = new Uint8Array(64 * idLength);
  #low = new Uint32Array(64);
  #high = new Uint32Array(64);
  /** Row + 1 of the next row in the same slot; 0 at the end. */
  #nextInSlot = new Int32Array(64);
  #slots = new Int32Array(128);

  add(row: HeldRow): void {
    const at = this.size++;
    if (at === this.key.length) this.#growTo(this.size, at);
    this.#low[at] = row.fingerprintLow;
    this.#high[at] = row.fingerprintHigh;
    this.key[at] = row.key;
    this.height[at] = row.height;
    this.step[at] = row.step;
    this.satOffset[at] = row.satOffset;
    this.vout[at] = row.vout;
    this.curse[at] = row.curse;
    for (let index = 0; index < hashLength; index++) {
      this.txid[at * hashLength + index] = row.txids[row.txidAt + index]!;
      this.id[at * idLength + index] = row.idTxids[row.idTxidAt + index]!;
    }
    for (let index = 0; index < 4; index++) {
      this.id[at * idLength + hashLength + index] = (row.idIndex >>> (8 * index)) & 0xff;
    }
    this.#link(at);
  }

  /** Adds all rows of another table. */
  append(rows: HeldOutputs): void {
    const { size } = rows;
    const first = this.#extend(size);
    this.key.set(rows.key.subarray(0, size), first);
    this.height.set(rows.height.subarray(0, size), first);
    this.step.set(rows.step.subarray(0, size), first);
    this.satOffset.set(rows.satOffset.subarray(0, size), first);
    this.vout.set(rows.vout.subarray(0, size), first);
    this.curse.set(rows.curse.subarray(0, size), first);
    this.txid.set(rows.txid.subarray(0, size * hashLength), first * hashLength);
    this.id.set(rows.id.subarray(0, size * idLength), first * idLength);
    this.#low.set(rows.#low.subarray(0, size), first);
    this.#high.set(rows.#high.subarray(0, size), first);
    for (let at = first; at < this.size; at++) this.#link(at);
  }

  /**
   * Drops all rows and keeps the memory. `appendSome` can still copy the dropped rows from this table until they are
   * overwritten.
   */
  clear(): void {
    this.size = 0;
    this.#slots.fill(0);
  }

  /** Adds some rows of a table, in ascending order. The table may be this one, just after `clear`. */
  appendSome(rows: HeldOutputs, which: Uint32Array): void {
    const first = this.#extend(which.length);
    takeEach(this.key, first, rows.key, which);
    takeEach(this.height, first, rows.height, which);
    takeEach(this.step, first, rows.step, which);
    takeEach(this.satOffset, first, rows.satOffset, which);
    takeEach(this.vout, first, rows.vout, which);
    takeEach(this.curse, first, rows.curse, which);
    takeEachOf(hashLength, this.txid, first, rows.txid, which);
    takeEachOf(idLength, this.id, first, rows.id, which);
    takeEach(this.#low, first, rows.#low, which);
    takeEach(this.#high, first, rows.#high, which);
    for (let at = first; at < this.size; at++) this.#link(at);
  }

  /**
   * Adds the rows of one output from another table. The 36 bytes at `at` are its outpoint, with this fingerprint.
   * Returns whether there is at least one row.
   */
  appendOutput(rows: HeldOutputs, low: number, high: number, block: Uint8Array, at: number): boolean {
    const { size } = this;
    for (let row = rows.first(low, high); row >= 0; row = rows.next(row)) {
      if (rows.isAt(row, block, at)) this.add(rows.rowAt(row));
    }
    return this.size > size;
  }

  /** The values of a row as views of this table. They are valid until the table grows. */
  rowAt(row: number): HeldRow {
    const id = row * idLength;
    return {
      fingerprintLow: this.#low[row]!,
      fingerprintHigh: this.#high[row]!,
      key: trustedInscriptionKey(this.key[row]!),
      height: trustedHeight(this.height[row]!),
      step: this.step[row]!,
      satOffset: this.satOffset[row]!,
      txids: this.txid,
      txidAt: row * hashLength,
      vout: this.vout[row]!,
      idTxids: this.id,
      idTxidAt: id,
      idIndex: new DataView(this.id.buffer).getUint32(id + hashLength, true),
      curse: this.curse[row]!,
    };
  }

  /** Whether a row's fingerprint is in a set of outputs. */
  isAmong(outputs: TrackedOutputs, row: number): boolean {
    return outputs.has(this.#low[row]!, this.#high[row]!);
  }

  /** Adds the fingerprints of all rows to a set of outputs. */
  addTo(outputs: TrackedOutputs): void {
    for (let row = 0; row < this.size; row++) outputs.add(this.#low[row]!, this.#high[row]!);
  }

  /** First row with a fingerprint. -1 if the table has none. */
  first(low: number, high: number): number {
    return this.#matching(this.#slots[low & (this.#slots.length - 1)]! - 1, low, high);
  }

  /** The next row with the same fingerprint as `row`; -1 at the end. */
  next(row: number): number {
    return this.#matching(this.#nextInSlot[row]! - 1, this.#low[row]!, this.#high[row]!);
  }

  /** Whether a row is in the output whose outpoint is the 36 bytes at `at` (txid, then index in little endian). */
  isAt(row: number, block: Uint8Array, at: number): boolean {
    for (let index = 0; index < hashLength; index++) {
      if (this.txid[row * hashLength + index] !== block[at + index]) return false;
    }
    const vout = this.vout[row]!;
    for (let index = 0; index < 4; index++) {
      if (block[at + hashLength + index] !== ((vout >>> (8 * index)) & 0xff)) return false;
    }
    return true;
  }

  #matching(row: number, low: number, high: number): number {
    while (row >= 0 && (this.#low[row] !== low || this.#high[row] !== high)) {
      row = this.#nextInSlot[row]! - 1;
    }
    return row;
  }

  #link(row: number): void {
    const slot = this.#low[row]! & (this.#slots.length - 1);
    this.#nextInSlot[row] = this.#slots[slot]!;
    this.#slots[slot] = row + 1;
  }

  /** Makes room for more rows, whose columns the caller fills. Returns the first new row. */
  #extend(count: number): number {
    const first = this.size;
    this.size = first + count;
    if (this.size > this.key.length) this.#growTo(this.size, first);
    return first;
  }

  /** Grows to at least `least` rows, and to at least twice the current size. The first `used` rows are copied. */
  #growTo(least: number, used: number): void {
    const rows = 2 ** Math.ceil(Math.log2(least));
    const grown = <T extends Column>(column: T, width: number): T => {
      const Grown = column.constructor as new (length: number) => T;
      const next = new Grown(rows * width);
      next.set(column as never);
      return next;
    };
    this.key = grown(this.key, 1);
    this.height = grown(this.height, 1);
    this.step = grown(this.step, 1);
    this.satOffset = grown(this.satOffset, 1);
    this.vout = grown(this.vout, 1);
    this.curse = grown(this.curse, 1);
    this.txid = grown(this.txid, hashLength);
    this.id = grown(this.id, idLength);
    this.#low = grown(this.#low, 1);
    this.#high = grown(this.#high, 1);
    this.#nextInSlot = grown(this.#nextInSlot, 1);
    this.#slots = new Int32Array(rows * 2);
    for (let row = 0; row < used; row++) this.#link(row);
  }
}

type Column = Int32Array | Uint32Array | Uint8Array | Float64Array;

function takeEach(into: Column, first: number, from: Column, which: Uint32Array): void {
  for (let at = 0; at < which.length; at++) into[first + at] = from[which[at]!]!;
}

/**
 * Like the function above, for rows of several bytes, a multiple of four. Copying words is four times as fast as
 * copying bytes.
 */
function takeEachOf(
  width: number,
  into: Uint8Array,
  first: number,
  from: Uint8Array,
  which: Uint32Array,
): void {
  const words = width / Uint32Array.BYTES_PER_ELEMENT;
  const [to, source] = [new Uint32Array(into.buffer), new Uint32Array(from.buffer)];
  for (let at = 0; at < which.length; at++) {
    const row = which[at]! * words;
    for (let word = 0; word < words; word++) to[(first + at) * words + word] = source[row + word]!;
  }
}
