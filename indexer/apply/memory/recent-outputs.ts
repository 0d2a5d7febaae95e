import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { HeldOutputs } from './held-outputs.ts';

/**
 * Maximum number of rows in memory. A row has 121 bytes, so all take 63 MB. A load that starts at the first inscription
 * queries the database for no output until it has made this many rows, and then only for old outputs.
 */
export const recentOutputsMax = 1 << 19;
/**
 * Number of parts that hold the rows. Room is made in one part after another, in place. A copy of a single table with
 * all rows took 100 MB more, which malloc did not release.
 */
const partCount = 8;
/**
 * Share of the maximum that may remain after room was made. The rows are checked again once a quarter of them are new.
 */
const shareLeft = 0.75;
/**
 * Maximum number of rows checked in one turn of the event loop while room is made. They take some milliseconds.
 * Checking all rows at once blocked requests for half a second.
 */
const rowsAtOnce = 10_000;
/**
 * Number of rows that show how many are spent, spread over all rows. They are enough to tell a tenth from a fifth, and
 * are read in less than a millisecond.
 */
const sampleRows = 4096;

/**
 * The newest committed outputs with inscriptions during a bulk load, with the data that the ledger needs. An input that
 * spends one of these outputs needs no query. Until the first query, the index that it would use need not be
 * maintained.
 *
 * It may lack outputs that the database has, but never has different data; the caller queries missing outputs. If it
 * knows an output, it has all its rows, because the rows of an output come in one block, and the rows of a block are in
 * one part.
 */
export class RecentOutputs {
  readonly #rowsMax: number;
  readonly #partRows: number;
  /** Parts, oldest rows first and empty parts last. They may still contain spent outputs. */
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
   * Adds the known rows of an output to `found`. The 36 bytes at `at` are its outpoint, with this fingerprint. Returns
   * whether the output is known.
   */
  find(found: HeldOutputs, low: number, high: number, block: Uint8Array, at: number): boolean {
    // most spent outputs are young, so search the newest part first
    return this.#parts.findLast((part) => found.appendOutput(part, low, high, block, at)) !== undefined;
  }

  /**
   * Outputs that the batch itself spent are added, too. They are few, so finding them took longer than copying them.
   * When the memory is full, spent outputs are dropped if they are an eighth of all, else with the oldest parts.
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

  /**
   * Drops spent outputs, if these rows would fill a part. If too many rows remain, the oldest parts are dropped too.
   */
  async #makeRoom(tracked: TrackedOutputs): Promise<void> {
    if (this.#spentShare(tracked) >= 1 / partCount) await this.#dropSpent(tracked);
    while (this.size > this.#rowsMax * shareLeft) this.#dropOldest();
  }

  /** Share of spent outputs among the rows, from a sample. */
  #spentShare(tracked: TrackedOutputs): number {
    const step = Math.ceil(this.size / sampleRows);
    let [read, spent] = [0, 0];
    for (const part of this.#parts)
      for (let row = 0; row < part.size; row += step, read++) if (!part.isAmong(tracked, row)) spent++;
    return spent / read;
  }

  async #dropSpent(tracked: TrackedOutputs): Promise<void> {
    this.#filled = 0;
    for (let part = 0; part < this.#parts.length; part++) {
      const unspent = await unspentRows(this.#parts[part]!, tracked);
      this.#moveUp(part, unspent);
    }
  }

  /** Moves the given rows of a part to the end of the parts before it. Drops the other rows of that part. */
  #moveUp(part: number, rows: Uint32Array): void {
    const from = this.#parts[part]!;
    from.clear();
    for (let block = 0, end = 0; block < rows.length; block = end) {
      end = endOfBlock(from, rows, block);
      // the earlier part has room, and the later part still has its rows
      const into = this.#filled < part ? this.#partFor(end - block) : from;
      into.appendSome(from, rows.subarray(block, end));
    }
  }

  /** The part with room for a number of rows, which are rows of whole blocks. */
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

/** The end of the rows that have the same block as the row at `first`. Rows are sorted by height. */
function endOfBlock({ height }: HeldOutputs, rows: Uint32Array, first: number): number {
  let end = first + 1;
  while (end < rows.length && height[rows[end]!] === height[rows[first]!]) end++;
  return end;
}
