import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { HeldOutputs } from './held-outputs.ts';

/**
 * Rows at most: 113 bytes each and a slot table, 120 MB, and half as much again for the moment in which the table is made
 * anew. A load from the first inscription on asks the database for no output until so many were made, and then only for
 * old ones.
 */
export const recentOutputsMax = 1 << 20;
/** Rows that are looked at in one go where room is made, some milliseconds: all of them took half a second, in which nobody was answered. */
const rowsAtOnce = 10_000;

/**
 * The newest committed outputs that hold inscriptions, with all that the ledger must know of them, during a bulk load: an
 * input that spends one of these is no question to the database, and as long as none is asked, nothing has to keep the
 * index that would answer.
 *
 * It may always know less than there is, never something else: whoever does not find an output here asks. What is
 * known of an output is all of it, because its rows come in one block and go together.
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
   * The table as it is now. It may grow, but what is found in it stays there for whoever holds it: where rows are dropped a new
   * table takes its place. What was spent may still be in it.
   */
  get table(): HeldOutputs {
    return this.#rows;
  }

  /** Learns what a committed batch made, where it is still unspent. Until it settles `tracked` must stay as it is. */
  async learn(outputs: HeldOutputs, tracked: TrackedOutputs): Promise<void> {
    if (!this.#isOpen) return;
    if (this.#rows.size + outputs.size > this.#rowsMax) this.#rows = await this.#roomier(tracked);
    await copyTracked(outputs, this.#rows, tracked, -1);
  }

  /** Blocks were taken back. */
  forget(): void {
    this.#rows = new HeldOutputs();
  }

  /** The bulk load is over: its memory is given back, and nothing is learnt any more. */
  close(): void {
    this.#isOpen = false;
    this.forget();
  }

  /** The same without what was spent, and of more than half as many rows as there may be without the oldest blocks'. */
  async #roomier(tracked: TrackedOutputs): Promise<HeldOutputs> {
    const before = this.#rows;
    const unspent: number[] = [];
    for (let row = 0; row < before.size; row++) {
      if (before.isAmong(tracked, row)) unspent.push(row);
      if (row % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
    }
    const beyond = unspent.length - (this.#rowsMax >> 1);
    // in the order of heights, and all rows of an output have one
    const dropped = beyond <= 0 ? -1 : before.height[unspent[beyond - 1]!]!;
    const rows = new HeldOutputs();
    await copyTracked(before, rows, tracked, dropped);
    return rows;
  }
}

async function copyTracked(
  from: HeldOutputs,
  to: HeldOutputs,
  tracked: TrackedOutputs,
  above: number,
): Promise<void> {
  for (let row = 0; row < from.size; row++) {
    if (from.height[row]! > above && from.isAmong(tracked, row)) to.add(from.rowAt(row));
    if (row % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
  }
}
