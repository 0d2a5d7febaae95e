import { type NewLocations, places, type TrackedChanges } from '#indexer/ledger/ledger-block.ts';
import { withRoom } from '#kernel/growable.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/**
 * An output that receives inscriptions: the range of its script, and its transaction as a row of `txids` (-1: the
 * transaction that revealed the inscription).
 */
export interface OutputPlace {
  txid: number;
  vout: number;
  value: number;
  scriptStart: number;
  scriptLength: number;
  fingerprintLow: number;
  fingerprintHigh: number;
}

/** Builds the location rows of a block in columns that grow. The result is views of them. */
export class LocationRows {
  count = 0;
  key: Int32Array;
  step: Uint32Array;
  place: Uint8Array;
  txid: Int32Array;
  vout: Uint32Array;
  satOffset: Float64Array;
  value: Float64Array;
  scriptStart: Uint32Array;
  scriptLength: Uint32Array;
  fingerprintLow: Uint32Array;
  fingerprintHigh: Uint32Array;
  spent: Uint8Array;
  /** Source of each row's inscription, used if the output is spent within the block. */
  source: Int32Array;
  /** Index of the transaction that made the output. */
  tx: Uint32Array;
  /** Next row of the same output; -1 for the last row. */
  nextInOutput: Int32Array;

  constructor(capacity: number) {
    this.key = new Int32Array(capacity);
    this.step = new Uint32Array(capacity);
    this.place = new Uint8Array(capacity);
    this.txid = new Int32Array(capacity);
    this.vout = new Uint32Array(capacity);
    this.satOffset = new Float64Array(capacity);
    this.value = new Float64Array(capacity);
    this.scriptStart = new Uint32Array(capacity);
    this.scriptLength = new Uint32Array(capacity);
    this.fingerprintLow = new Uint32Array(capacity);
    this.fingerprintHigh = new Uint32Array(capacity);
    this.spent = new Uint8Array(capacity);
    this.source = new Int32Array(capacity);
    this.tx = new Uint32Array(capacity);
    this.nextInOutput = new Int32Array(capacity);
  }

  /** Adds a row in an output. Returns its index. */
  addInOutput(
    key: InscriptionKey,
    tx: number,
    step: number,
    satOffset: number,
    source: number,
    output: OutputPlace,
  ): number {
    const row = this.#add(key, step, places.output, satOffset);
    this.txid[row] = output.txid;
    this.vout[row] = output.vout;
    this.value[row] = output.value;
    this.scriptStart[row] = output.scriptStart;
    this.scriptLength[row] = output.scriptLength;
    this.fingerprintLow[row] = output.fingerprintLow;
    this.fingerprintHigh[row] = output.fingerprintHigh;
    this.source[row] = source;
    this.tx[row] = tx;
    return row;
  }

  /** Adds a row outside of outputs: the inscription is lost or unbound. */
  addOutside(key: InscriptionKey, step: number, place: number, satOffset: number): void {
    const row = this.#add(key, step, place, satOffset);
    this.txid[row] = -1;
    this.value[row] = Number.NaN;
  }

  #add(key: InscriptionKey, step: number, place: number, satOffset: number): number {
    const row = this.count;
    if (row === this.key.length) this.#grow(row + 1);
    this.count = row + 1;
    this.key[row] = key;
    this.step[row] = step;
    this.place[row] = place;
    this.satOffset[row] = satOffset;
    this.nextInOutput[row] = -1;
    return row;
  }

  #grow(length: number): void {
    this.key = withRoom(this.key, length);
    this.step = withRoom(this.step, length);
    this.place = withRoom(this.place, length);
    this.txid = withRoom(this.txid, length);
    this.vout = withRoom(this.vout, length);
    this.satOffset = withRoom(this.satOffset, length);
    this.value = withRoom(this.value, length);
    this.scriptStart = withRoom(this.scriptStart, length);
    this.scriptLength = withRoom(this.scriptLength, length);
    this.fingerprintLow = withRoom(this.fingerprintLow, length);
    this.fingerprintHigh = withRoom(this.fingerprintHigh, length);
    this.spent = withRoom(this.spent, length);
    this.source = withRoom(this.source, length);
    this.tx = withRoom(this.tx, length);
    this.nextInOutput = withRoom(this.nextInOutput, length);
  }

  finish(): NewLocations {
    const { count } = this;
    return {
      count,
      key: this.key.subarray(0, count),
      step: this.step.subarray(0, count),
      place: this.place.subarray(0, count),
      txid: this.txid.subarray(0, count),
      vout: this.vout.subarray(0, count),
      satOffset: this.satOffset.subarray(0, count),
      value: this.value.subarray(0, count),
      scriptStart: this.scriptStart.subarray(0, count),
      scriptLength: this.scriptLength.subarray(0, count),
      fingerprintLow: this.fingerprintLow.subarray(0, count),
      fingerprintHigh: this.fingerprintHigh.subarray(0, count),
      spent: this.spent.subarray(0, count),
    };
  }

  /** Fingerprints of the rows in outputs that this block does not spend. */
  tracked(): Pick<TrackedChanges, 'addLow' | 'addHigh'> {
    const addLow = new Uint32Array(this.count);
    const addHigh = new Uint32Array(this.count);
    let added = 0;
    for (let row = 0; row < this.count; row++) {
      if (this.place[row] !== places.output || this.spent[row] === 1) continue;
      addLow[added] = this.fingerprintLow[row]!;
      addHigh[added] = this.fingerprintHigh[row]!;
      added++;
    }
    return { addLow: addLow.subarray(0, added), addHigh: addHigh.subarray(0, added) };
  }
}
