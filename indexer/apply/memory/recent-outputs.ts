import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { HeldOutputs } from './held-outputs.ts';

/**
 * Maximum number of rows: 113 bytes each and a slot table, 120 MB, and half as much again while the table is rebuilt.
 * A load from the first inscription on queries the database for no output until that many were made, and then only
 * for old ones.
 */
export const recentOutputsMax = 1 << 20;
/**
 * Rows checked in one turn of the event loop while room is made, some milliseconds: all rows at once took half a
 * second, during which no request was answered.
 */
const rowsAtOnce = 10_000;

/**
 * The newest committed outputs with inscriptions, and all that the ledger must know of them, during a bulk load. An
 * input that spends one of them needs no query, and while no query is needed, the index that would answer it need not
 * be maintained.
 *
 * It may know less than the database, never anything different: the caller queries outputs that are missing here.
 * What it knows of an output is complete, because the rows of an output come in one block and go together.
 */
export class RecentOutputs {
  readonly #rowsMax: number;
  #rows = new HeldOutputs();
  #isOpen = true;

  /** @param rowsMax at least 2 */
  constructor(rowsMax: number = recentOutputsMax) {
    this.#rowsMax = rowsMax;
  }

  /**
   * The current table. It may grow, but what a caller finds in it stays valid for that caller: when rows are dropped,
   * a new table takes its place. It may still have spent outputs.
   */
  get table(): HeldOutputs {
    return this.#rows;
  }

  /**
   * Learns the outputs that a committed batch made. Those that it spent as well come along until room is made: they are
   * few, and to look each up took longer than to copy it. `tracked` must not change until it resolves.
   */
  async learn(outputs: HeldOutputs, tracked: TrackedOutputs): Promise<void> {
    if (!this.#isOpen) return;
    if (this.#rows.size + outputs.size > this.#rowsMax) this.#rows = await this.#roomier(tracked);
    this.#rows.append(outputs);
  }

  /** To call when blocks were taken back. */
  forget(): void {
    this.#rows = new HeldOutputs();
  }

  /** The bulk load is over: frees the memory; nothing is learnt any more. */
  close(): void {
    this.#isOpen = false;
    this.forget();
  }

  /** A copy without spent outputs; if more than half of the maximum remains, the oldest blocks' outputs go too. */
  async #roomier(tracked: TrackedOutputs): Promise<HeldOutputs> {
    const before = this.#rows;
    const unspent: number[] = [];
    for (let row = 0; row < before.size; row++) {
      if (before.isAmong(tracked, row)) unspent.push(row);
      if (row % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
    }
    const beyond = unspent.length - (this.#rowsMax >> 1);
    // rows are in the order of heights, and all rows of an output have the same height
    const dropped = beyond <= 0 ? -1 : before.height[unspent[beyond - 1]!]!;
    const rows = new HeldOutputs();
    for (const [place, row] of unspent.entries()) {
      if (before.height[row]! > dropped) rows.add(before.rowAt(row));
      if (place % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
    }
    return rows;
  }
}
