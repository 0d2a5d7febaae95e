import { strict as assert } from 'node:assert';
import { curseUnknown, type LedgerCounters, numberUnknown } from '#indexer/ledger/ledger-block.ts';
import { curses } from '#kernel/primitives/curse.ts';

/** The running totals while a block is applied. An unknown total stays unknown within its island. */
export class RunningTotals {
  sequence: number | null;
  blessed: number | null;
  cursed: number | null;
  unbound: number | null;
  lostSats: number | null;
  readonly #before: LedgerCounters;
  readonly #jubilant: boolean;

  constructor(before: LedgerCounters, jubilant: boolean) {
    this.#before = before;
    this.#jubilant = jubilant;
    this.sequence = before.sequence;
    this.blessed = before.blessed;
    this.cursed = before.cursed;
    this.unbound = before.unbound;
    this.lostSats = before.lostSats;
  }

  /**
   * Returns the number of the next inscription, given its curse, and counts it. From the jubilee on every inscription
   * is blessed. If a curse is unknown, all later numbers are unknown.
   */
  takeNumber(curse: number): number {
    if (!this.#jubilant && curse === curseUnknown) {
      this.blessed = null;
      this.cursed = null;
      return numberUnknown;
    }
    if (this.#jubilant || curse === curses.none) {
      if (this.blessed === null) return numberUnknown;
      return this.blessed++;
    }
    if (this.cursed === null) return numberUnknown;
    this.cursed++;
    return -this.cursed;
  }

  /** The totals after a block with `count` new inscriptions. */
  after(count: number): LedgerCounters {
    const { blessed, cursed, unbound, lostSats } = this;
    const before = this.#before;
    const after = {
      nextKey: before.nextKey + count,
      sequence: this.sequence === null ? null : this.sequence + count,
      blessed,
      cursed,
      unbound,
      lostSats,
    };
    for (const name of ['blessed', 'cursed', 'unbound', 'lostSats'] as const) {
      const now = after[name];
      assert(
        now === null || now >= (before[name] ?? Number.NaN),
        `${name} went from ${before[name]} to ${now}`,
      );
    }
    return after;
  }
}
