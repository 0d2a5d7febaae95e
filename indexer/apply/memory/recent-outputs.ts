import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { HeldOutputs } from './held-outputs.ts';

/**
 * Maximum number of rows: 121 bytes each, 63 MB. A load from the first inscription on queries the database for no
 * output until that many were made, and then only for old ones.
 */
export const recentOutputsMax = 1 << 19;
/**
 * Rows are in so many parts: room is made in one after the other, in place. One table of all rows was rebuilt beside
 * itself, for which malloc took 100 MB more and kept them.
 */
const partCount = 8;
/** The share of the maximum that is left at most when room was made: rows are checked again after a quarter is new. */
const shareLeft = 0.75;
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
 * What it knows of an output is complete, because the rows of an output come in one block, and those of a block are in
 * one part.
 */
export class RecentOutputs {
  readonly #rowsMax: number;
  readonly #partRows: number;
  /** The oldest rows first; parts without rows last. They may still have spent outputs. */
  #parts: HeldOutputs[] = [];
  /** The part that new rows go to. */
  #filled = 0;
  #isOpen = true;

  /** @param rowsMax at least 2 */
  constructor(rowsMax: number = recentOutputsMax) {
    this.#rowsMax = rowsMax;
    this.#partRows = Math.ceil(rowsMax / partCount);
  }

  get size(): number {
    return this.#parts.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Adds what it knows of an output to `found`: of the one that the 36 bytes at `at` name, and that has this
   * fingerprint. Returns whether it knows it.
   */
  find(found: HeldOutputs, low: number, high: number, block: Uint8Array, at: number): boolean {
    // most outputs that are spent are young
    return this.#parts.findLast((part) => found.appendOutput(part, low, high, block, at)) !== undefined;
  }

  /**
   * Learns the outputs that a committed batch made. Those that it spent as well come along until room is made: they are
   * few, and to look each up took longer than to copy it. `tracked` must not change until it resolves.
   */
  async learn(outputs: HeldOutputs, tracked: TrackedOutputs): Promise<void> {
    if (!this.#isOpen) return;
    if (this.size + outputs.size > this.#rowsMax) await this.#makeRoom(tracked);
    this.#partFor(outputs.size).append(outputs);
  }

  /** To call when blocks were taken back. */
  forget(): void {
    this.#parts = [];
    this.#filled = 0;
  }

  /** The bulk load is over: frees the memory; nothing is learnt any more. */
  close(): void {
    this.#isOpen = false;
    this.forget();
  }

  /** Drops spent outputs; if too many remain, the oldest parts go too. */
  async #makeRoom(tracked: TrackedOutputs): Promise<void> {
    this.#filled = 0;
    for (let part = 0; part < this.#parts.length; part++) {
      const unspent = await unspentRows(this.#parts[part]!, tracked);
      this.#moveUp(part, unspent);
    }
    while (this.size > this.#rowsMax * shareLeft) this.#dropOldest();
  }

  /** Moves rows of a part behind those that remain of the parts before it, and drops its other rows. */
  #moveUp(part: number, rows: Uint32Array): void {
    const from = this.#parts[part]!;
    from.clear();
    for (let block = 0, end = 0; block < rows.length; block = end) {
      end = endOfBlock(from, rows, block);
      // what a part had has room in it, and the next one still has its rows
      const into = this.#filled < part ? this.#partFor(end - block) : from;
      into.appendSome(from, rows.subarray(block, end));
    }
  }

  /** The part that gets so many rows of whole blocks. */
  #partFor(rows: number): HeldOutputs {
    const size = this.#parts[this.#filled]?.size ?? 0;
    if (size > 0 && size + rows > this.#partRows) this.#filled++;
    return (this.#parts[this.#filled] ??= new HeldOutputs());
  }

  #dropOldest(): void {
    const [oldest] = this.#parts.splice(0, 1) as [HeldOutputs];
    oldest.clear();
    this.#parts.push(oldest);
    this.#filled = Math.max(0, this.#filled - 1);
  }
}

async function unspentRows(part: HeldOutputs, tracked: TrackedOutputs): Promise<Uint32Array> {
  const unspent = new Uint32Array(part.size);
  let count = 0;
  for (let row = 0; row < part.size; row++) {
    if (part.isAmong(tracked, row)) unspent[count++] = row;
    if (row % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
  }
  return unspent.subarray(0, count);
}

/** The end of the rows that are of the same block as the one at `first`: they are in the order of heights. */
function endOfBlock({ height }: HeldOutputs, rows: Uint32Array, first: number): number {
  let end = first + 1;
  while (end < rows.length && height[rows[end]!] === height[rows[first]!]) end++;
  return end;
}
