import { markerLength, outpointLength, sequenceLength, valueLength, versionLength } from './block-layout.ts';
import { afterSized, compactSizeLength, knownCompactSize } from './compact-size.ts';

/**
 * Steps over the parts of transactions that were already checked (./block-layout.ts), so the bytes are well formed.
 * Nothing is cached, because only relevant transactions are read.
 */

/** Whether the transaction at `start` has marker and flag: an input count of 0, followed by a byte that is not 0. */
export function hasMarker(bytes: Uint8Array, start: number): boolean {
  return bytes[start + versionLength] === 0 && bytes[start + versionLength + 1] !== 0;
}

/** Offset of the input count of the transaction at `start`. */
const inputsAt = (bytes: Uint8Array, start: number): number =>
  start + versionLength + (hasMarker(bytes, start) ? markerLength : 0);

/** Offsets of the outpoints that a transaction spends. Inputs must be requested in ascending order. */
export class InputWalk {
  readonly #bytes: Uint8Array;
  #at = 0;
  #index = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Moves to the transaction at `start`, and returns the number of its inputs. */
  open(start: number): number {
    const at = inputsAt(this.#bytes, start);
    this.#at = at + compactSizeLength(this.#bytes[at]!);
    this.#index = 0;
    return knownCompactSize(this.#bytes, at);
  }

  /** Offset of the 36 bytes of the outpoint of input `index`. */
  outpointOf(index: number): number {
    for (; this.#index < index; this.#index++) {
      this.#at = afterSized(this.#bytes, this.#at + outpointLength) + sequenceLength;
    }
    return this.#at;
  }

  /** The script of input `index`, a view. */
  scriptOf(index: number): Uint8Array {
    const sizeAt = this.outpointOf(index) + outpointLength;
    const start = sizeAt + compactSizeLength(this.#bytes[sizeAt]!);
    return this.#bytes.subarray(start, start + knownCompactSize(this.#bytes, sizeAt));
  }
}

/** The outputs of a transaction, one after the other. */
export class OutputWalk {
  /** Index of the current output; -1 before the first output. */
  vout = -1;
  /** Value in sats. */
  value = 0;
  scriptStart = 0;
  scriptLength = 0;

  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #left = 0;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Moves before the first output. `outputs` is the offset of the output count. */
  open(outputs: number): void {
    this.#left = knownCompactSize(this.#bytes, outputs);
    this.#at = outputs + compactSizeLength(this.#bytes[outputs]!);
    this.vout = -1;
    this.value = 0;
  }

  /** Moves to the next output. Returns false after the last output. */
  next(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    this.vout++;
    this.value = this.#view.getUint32(this.#at, true) + this.#view.getUint32(this.#at + 4, true) * 2 ** 32;
    const sizeAt = this.#at + valueLength;
    this.scriptStart = sizeAt + compactSizeLength(this.#bytes[sizeAt]!);
    this.scriptLength = knownCompactSize(this.#bytes, sizeAt);
    this.#at = this.scriptStart + this.scriptLength;
    return true;
  }

  /** Offset after the last output. */
  end(): number {
    while (this.next());
    return this.#at;
  }
}

/** The items of the witnesses of a transaction. Inputs must be requested in ascending order. */
export class WitnessWalk {
  /** Range of the current item. */
  itemStart = 0;
  itemLength = 0;

  readonly #bytes: Uint8Array;
  #at = 0;
  #index = -1;
  #left = 0;
  #count = 0;
  #firstItem = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Moves before the first witness. `at` is the offset after the last output. */
  open(at: number): void {
    this.#at = at;
    this.#index = -1;
    this.#left = 0;
  }

  /** Moves before the first item of the witness of input `index`, and returns the number of its items. */
  items(index: number): number {
    for (; this.#index < index; this.#index++) {
      while (this.next());
      this.#count = knownCompactSize(this.#bytes, this.#at);
      this.#at += compactSizeLength(this.#bytes[this.#at]!);
      this.#firstItem = this.#at;
      this.#left = this.#count;
    }
    this.#at = this.#firstItem;
    this.#left = this.#count;
    return this.#count;
  }

  /** Moves to the next item. Returns false after the last item. */
  next(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    this.itemStart = this.#at + compactSizeLength(this.#bytes[this.#at]!);
    this.itemLength = knownCompactSize(this.#bytes, this.#at);
    this.#at = this.itemStart + this.itemLength;
    return true;
  }
}
