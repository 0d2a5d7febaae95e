import type { HeldSats, SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import type { DerivedMemory } from '../derived-table.ts';

/** Some 130 bytes an output, and 8 a number of the lists that they share: 52 MB and 64 MB. */
const outputsMax = 400_000;
const numbersMax = 8_000_000;

/** Outputs that a batch of blocks left, and what it spent of earlier ones. */
export interface LearntBatch {
  /** In the order of their blocks. */
  readonly left: Iterable<readonly [name: string, held: HeldSats]>;
  readonly spent: Iterable<string>;
  /** Height of its last block. */
  readonly height: number;
  /** Numbers in the lists that its outputs share. */
  readonly numbers: number;
}

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
  readonly #outputsMax: number;
  /** In the order of their blocks. */
  readonly #outputs = new Map<string, HeldSats>();
  /** The lists that its outputs share, in the same order. */
  #lists: { readonly height: number; readonly numbers: number }[] = [];
  #numbers = 0;
  #newest = -1;

  constructor(writtenBelow: number, most = outputsMax) {
    this.writtenBelow = writtenBelow;
    this.#outputsMax = most;
  }

  find(name: string): HeldSats | undefined {
    return this.#outputs.get(name);
  }

  /** Its outputs of blocks from one height to below another. */
  *between(from: number, below: number): Generator<readonly [name: string, held: HeldSats]> {
    if (this.#newest < from || below <= from) return;
    for (const entry of this.#outputs) {
      const { height } = entry[1];
      if (height >= from && height < below) yield entry;
    }
  }

  /**
   * Below which height outputs should get rows, so that there is room for others: half of what is there; 0 while there
   * is room for all.
   */
  makeRoom(outputs: number, numbers: number): number {
    if (this.#outputs.size + outputs <= this.#outputsMax && this.#numbers + numbers <= numbersMax) return 0;
    let left = this.#outputs.size / 2;
    for (const { height } of this.#outputs.values()) if (left-- <= 0) return height + 1;
    return this.#newest + 1;
  }

  /** A batch is committed; below a height all unspent outputs have rows now. */
  learn({ left, spent, height, numbers }: LearntBatch, writtenBelow: number): void {
    for (const name of spent) this.#outputs.delete(name);
    for (const [name, held] of left) this.#outputs.set(name, held);
    this.#lists.push({ height, numbers });
    this.#numbers += numbers;
    this.#newest = height;
    const isMoved = writtenBelow > this.writtenBelow && writtenBelow <= height;
    this.writtenBelow = writtenBelow;
    if (isMoved || this.#outputs.size > this.#outputsMax || this.#numbers > numbersMax) this.#forgetHalf();
  }

  /** The rows have all that it has. */
  allWritten(): void {
    this.writtenBelow = Math.max(this.writtenBelow, this.#newest + 1);
  }

  /** Forgets the oldest outputs, as far as they have rows. */
  #forgetHalf(): void {
    let first = this.#newest + 1;
    for (const [name, { height }] of this.#outputs) {
      const isLarge = this.#outputs.size > this.#outputsMax / 2 || this.#numbers > numbersMax / 2;
      if (height >= this.writtenBelow || !isLarge) {
        first = height;
        break;
      }
      this.#outputs.delete(name);
      this.#forgetLists(height);
    }
    this.#forgetLists(first);
  }

  /** Lists of blocks below a height have no output any more. */
  #forgetLists(below: number): void {
    let count = 0;
    for (const { height, numbers } of this.#lists) {
      if (height >= below) break;
      this.#numbers -= numbers;
      count++;
    }
    if (count > 0) this.#lists = this.#lists.slice(count);
  }

  unlearn(): void {
    this.#outputs.clear();
    this.#lists = [];
    this.#numbers = 0;
    this.totals = null;
  }
}
