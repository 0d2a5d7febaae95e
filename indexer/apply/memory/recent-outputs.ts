import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { HeldOutputs } from './held-outputs.ts';

/**
 * Maximum number of rows: 121 bytes each, 63 MB. A load from the first inscription on queries the database for no
 * output until it made this many, and then only for old ones.
 */
export const recentOutputsMax = 1 << 19;
/**
 * Number of parts that hold the rows. Room is made in one part after another, in place. Copying one table of all rows
 * took 100 MB more, which malloc kept.
 */
const partCount = 8;
/** Share of the maximum left after room was made. Rows are checked again once a quarter is new. */
const shareLeft = 0.75;
/**
 * Rows checked in one turn of the event loop while room is made: some milliseconds. Checking all rows at once blocked
 * requests for half a second.
 */
const rowsAtOnce = 10_000;

/**
 * The newest committed outputs with inscriptions, during a bulk load, with all that the ledger needs of them. An input
 * that spends one of them needs no query. Until a query is needed, its index need not be maintained.
 *
 * It may know fewer outputs than the database, never different ones; the caller queries missing outputs. Its knowledge
 * of an output is complete, because the rows of an output come in one block, and the rows of a block are in one part.
 */
export class RecentOutputs {
  readonly #rowsMax: number;
  readonly #partRows: number;
  /** Parts with the oldest rows first and empty parts last. They may still have spent outputs. */
  #parts: HeldOutputs[] = [];
  /** The part that receives new rows. */
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
   * Adds the known rows of an output to `found`: the output that the 36 bytes at `at` name, with this fingerprint.
   * Returns whether the output is known.
   */
  find(found: HeldOutputs, low: number, high: number, block: Uint8Array, at: number): boolean {
    // most outputs that are spent are young
    return this.#parts.findLast((part) => found.appendOutput(part, low, high, block, at)) !== undefined;
  }

  /**
   * Adds the outputs that a committed batch made. Outputs that the batch spent as well stay until room is made: they
   * are few, and a lookup of each took longer than a copy. `tracked` must not change until it resolves.
   */
  async learn(outputs: HeldOutputs, tracked: TrackedOutputs): Promise<void> {
    if (!this.#isOpen) return;
    if (this.size + outputs.size > this.#rowsMax) await this.#makeRoom(tracked);
    this.#partFor(outputs.size).append(outputs);
  }

  /** Forgets all outputs. Call it after blocks were taken back. */
  forget(): void {
    this.#parts = [];
    this.#filled = 0;
  }

  /** Ends the bulk load: frees the memory and learns nothing more. */
  close(): void {
    this.#isOpen = false;
    this.forget();
  }

  /** Drops spent outputs. If too many remain, the oldest parts are dropped too. */
  async #makeRoom(tracked: TrackedOutputs): Promise<void> {
    this.#filled = 0;
    for (let part = 0; part < this.#parts.length; part++) {
      const unspent = await unspentRows(this.#parts[part]!, tracked);
      this.#moveUp(part, unspent);
    }
    while (this.size > this.#rowsMax * shareLeft) this.#dropOldest();
  }

  /** Moves the given rows of a part to the end of the parts before it, and drops its other rows. */
  #moveUp(part: number, rows: Uint32Array): void {
    const from = this.#parts[part]!;
    from.clear();
    for (let block = 0, end = 0; block < rows.length; block = end) {
      end = endOfBlock(from, rows, block);
      // the earlier part has room, and the later one still has its rows
      const into = this.#filled < part ? this.#partFor(end - block) : from;
      into.appendSome(from, rows.subarray(block, end));
    }
  }

  /** The part that has room for this number of rows of whole blocks. */
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

/** The end of the rows of the same block as the row at `first`; rows are in the order of heights. */
function endOfBlock({ height }: HeldOutputs, rows: Uint32Array, first: number): number {
  let end = first + 1;
  while (end < rows.length && height[rows[end]!] === height[rows[first]!]) end++;
  return end;
}
