import { outputFates, type Ranges, SatOutputs } from '#indexer/ledger/sats/sat-outputs.ts';
import type { SatState, SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import type { DerivedMemory } from '../derived-table.ts';

/**
 * Up to 72 bytes an output, and 8 a number of their ranges, two a range. The table has room for twice of what is left in
 * it at most: 58 MB and 64 MB. It is 61 MB where it is just full.
 */
const outputsMax = 400_000;
const numbersMax = 4_000_000;

/**
 * What the writer remembers of sats: the ranges of the unspent outputs that were made last, because most outputs are
 * spent soon, and the totals. Of blocks from `writtenBelow` on it has them all: they have no rows yet.
 */
export class SatMemory implements DerivedMemory {
  /** Null: blocks were taken back, and they are read again. */
  totals: SatTotals | null = null;
  /** Unspent outputs of lower blocks have their rows. */
  writtenBelow: number;
  /** The index from outpoints is there. */
  hasIndex = false;
  /** In the order of their blocks. */
  outputs = new SatOutputs();
  readonly #outputsMax: number;
  #newest = -1;

  constructor(writtenBelow: number, most = outputsMax) {
    this.writtenBelow = writtenBelow;
    this.#outputsMax = most;
  }

  /** Rows of its outputs of blocks from one height to below another. */
  *between(from: number, below: number): Generator<number> {
    if (this.#newest < from || below <= from) return;
    const { outputs } = this;
    for (let row = 0; row < outputs.size; row++) {
      const height = outputs.heightOf(row);
      if (height >= from && height < below && outputs.fateOf(row) !== outputFates.gone) yield row;
    }
  }

  /**
   * Below which height outputs should get rows, so that there is room for others: half of what is there; 0 while there
   * is room for all.
   */
  makeRoom(more: number, numbers: number): number {
    const { outputs } = this;
    if (outputs.left + more <= this.#outputsMax && outputs.numbers + numbers <= numbersMax) return 0;
    let passed = 0;
    for (let row = 0; row < outputs.size; row++) {
      if (outputs.fateOf(row) === outputFates.gone) continue;
      if (passed >= outputs.left / 2) return outputs.heightOf(row) + 1;
      passed++;
    }
    return this.#newest + 1;
  }

  /** A batch is committed: what it left of its own blocks, and what it spent of earlier ones. */
  learn(state: SatState, left: readonly number[], height: number): void {
    const { outputs } = state;
    for (let row = 0; row < outputs.size; row++)
      if (outputs.fateOf(row) === outputFates.spent && outputs.heightOf(row) < state.firstHeight)
        this.#remove(this.outputs.findAs(outputs, row));
    const numbers = left.reduce((sum, row) => sum + outputs.countOf(row) * 2, 0);
    this.outputs.reserve(left.length, numbers);
    for (const row of left) this.outputs.addAs(outputs, row);
    this.#newest = height;
  }

  /** Remembers an unspent output of a block; those of lower blocks were remembered before. */
  make(fingerprint: number, words: Int32Array, height: number, ranges: Ranges): void {
    // what was spent since leaves gaps
    this.outputs.reserve(1, ranges.count * 2);
    const row = this.outputs.add(fingerprint, words, height);
    this.outputs.give(row, height, ranges);
    this.#newest = height;
  }

  /** An output is spent, which it may have forgotten. */
  spend(fingerprint: number, words: Int32Array): void {
    this.#remove(this.outputs.find(fingerprint, words));
  }

  #remove(row: number): void {
    if (row >= 0) this.outputs.remove(row);
  }

  /** Below a height all unspent outputs have rows now. */
  written(below: number): void {
    const isMoved = below > this.writtenBelow && below <= this.#newest;
    this.writtenBelow = below;
    const { left, numbers } = this.outputs;
    if (isMoved || left > this.#outputsMax || numbers > numbersMax) this.#forgetHalf();
    this.outputs.shrink();
  }

  /** The rows have all that it has. */
  allWritten(): void {
    this.writtenBelow = Math.max(this.writtenBelow, this.#newest + 1);
  }

  /** Forgets the oldest outputs, as far as they have rows. */
  #forgetHalf(): void {
    const { outputs } = this;
    for (let row = 0; row < outputs.size; row++) {
      if (outputs.fateOf(row) === outputFates.gone) continue;
      const isLarge = outputs.left > this.#outputsMax / 2 || outputs.numbers > numbersMax / 2;
      if (outputs.heightOf(row) >= this.writtenBelow || !isLarge) return;
      outputs.remove(row);
    }
  }

  unlearn(): void {
    this.outputs = new SatOutputs();
    this.totals = null;
  }
}
