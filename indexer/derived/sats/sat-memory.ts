import { outputFates, type Ranges, SatOutputs } from '#indexer/ledger/sats/sat-outputs.ts';
import type { SatState, SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import type { DerivedMemory } from '../derived-table.ts';

/**
 * Maximum number of outputs in memory: up to 72 bytes each, and 8 bytes for each number of their ranges (two numbers
 * per range). The table has room for at most twice its contents: 58 MB and 64 MB. A table that has just become full
 * takes 61 MB.
 */
const outputsMax = 400_000;
const numbersMax = 4_000_000;

/**
 * The writer's in-memory state of sats: the totals, and the ranges of the newest unspent outputs, because most outputs
 * are spent soon. It has all outputs of blocks from `writtenBelow` on, because these outputs have no rows yet.
 */
export class SatMemory implements DerivedMemory {
  /** Null: they must be read again because blocks were taken back. */
  totals: SatTotals | null = null;
  /** Unspent outputs of blocks below this height have their rows. */
  writtenBelow: number;
  /** True if the index on outpoints exists. */
  hasIndex = false;
  /** Outputs in the order of their blocks. */
  outputs = new SatOutputs();
  readonly #outputsMax: number;
  #newest = -1;

  constructor(writtenBelow: number, most = outputsMax) {
    this.writtenBelow = writtenBelow;
    this.#outputsMax = most;
  }

  /** Yields the rows of its outputs whose block is at height `from` or higher, and lower than `below`. */
  *between(from: number, below: number): Generator<number> {
    if (this.#newest < from || below <= from) return;
    const { outputs } = this;
    for (let row = 0; row < outputs.size; row++) {
      const height = outputs.heightOf(row);
      if (height >= from && height < below && outputs.fateOf(row) !== outputFates.gone) yield row;
    }
  }

  /**
   * Height below which outputs should be written as rows, so that half of the outputs can make room for others. 0 while
   * there is room for all.
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

  /**
   * Updates the state after the commit of a batch: adds the outputs that it left, and removes the outputs that it
   * spent.
   */
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

  /** Adds an unspent output of a block. Outputs of lower blocks were added before. */
  make(fingerprint: number, words: Int32Array, height: number, ranges: Ranges): void {
    // outputs spent since then leave gaps
    this.outputs.reserve(1, ranges.count * 2);
    const row = this.outputs.add(fingerprint, words, height);
    this.outputs.give(row, height, ranges);
    this.#newest = height;
  }

  /** Removes a spent output if it is in memory. */
  spend(fingerprint: number, words: Int32Array): void {
    this.#remove(this.outputs.find(fingerprint, words));
  }

  #remove(row: number): void {
    if (row >= 0) this.outputs.remove(row);
  }

  /** Records that all unspent outputs below a height have rows. */
  written(below: number): void {
    const isMoved = below > this.writtenBelow && below <= this.#newest;
    this.writtenBelow = below;
    const { left, numbers } = this.outputs;
    if (isMoved || left > this.#outputsMax || numbers > numbersMax) this.#forgetHalf();
    this.outputs.shrink();
  }

  /** Records that all outputs in memory have rows. */
  allWritten(): void {
    this.writtenBelow = Math.max(this.writtenBelow, this.#newest + 1);
  }

  /** Forgets the oldest outputs that have rows. */
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
