import {
  charmsUnknown,
  curseUnknown,
  feeUnknown,
  type NewInscriptions,
  numberUnknown,
} from '#indexer/ledger/ledger-block.ts';
import { withRoom } from '#kernel/growable.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** Builds the rows of a block's new inscriptions. Their number is known from the start. */
export class InscriptionRows {
  count = 0;
  readonly firstKey: number;
  readonly envelope: Uint32Array;
  readonly reveal: Uint32Array;
  readonly index: Uint32Array;
  readonly number: Int32Array;
  readonly curse: Uint8Array;
  readonly charms: Uint16Array;
  readonly fee: Float64Array;
  readonly firstParent: Uint32Array;
  readonly parentsKnown: Uint8Array;

  #parentKey = new Int32Array(16);
  #parentCount = 0;

  constructor(firstKey: number, count: number) {
    this.firstKey = firstKey;
    this.envelope = new Uint32Array(count);
    this.reveal = new Uint32Array(count);
    this.index = new Uint32Array(count);
    this.number = new Int32Array(count).fill(numberUnknown);
    this.curse = new Uint8Array(count).fill(curseUnknown);
    this.charms = new Uint16Array(count).fill(charmsUnknown);
    this.fee = new Float64Array(count).fill(feeUnknown);
    this.firstParent = new Uint32Array(count + 1);
    this.parentsKnown = new Uint8Array(count);
  }

  /** Begins the next row, without parents. Returns its index. */
  add(envelope: number, reveal: number, index: number): number {
    const row = this.count;
    this.count = row + 1;
    this.envelope[row] = envelope;
    this.reveal[row] = reveal;
    this.index[row] = index;
    this.firstParent[row + 1] = this.#parentCount;
    return row;
  }

  /** Adds a parent to the last row. */
  addParent(key: InscriptionKey): void {
    this.#parentKey = withRoom(this.#parentKey, this.#parentCount + 1);
    this.#parentKey[this.#parentCount++] = key;
    this.firstParent[this.count] = this.#parentCount;
  }

  finish(): NewInscriptions {
    const { count, firstKey, envelope, reveal, index, number, curse, charms, fee } = this;
    return {
      count,
      firstKey,
      envelope,
      reveal,
      index,
      number,
      curse,
      charms,
      fee,
      firstParent: this.firstParent,
      parentKey: this.#parentKey.subarray(0, this.#parentCount),
      parentsKnown: this.parentsKnown,
    };
  }
}
