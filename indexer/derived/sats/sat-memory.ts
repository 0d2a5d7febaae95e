import type { HeldSats, SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import type { DerivedMemory } from '../derived-table.ts';

/** Some 130 bytes an output, and 16 a range: 100 MB for two generations that are full of both. */
const outputsMax = 200_000;
const pairsMax = 1_500_000;

interface Generation {
  readonly outputs: Map<string, HeldSats>;
  /** Numbers of the lists that its outputs share. */
  pairs: number;
}

const generation = (): Generation => ({ outputs: new Map(), pairs: 0 });

/**
 * What the writer remembers of sats: the ranges of the outputs that were made last, because most outputs are spent
 * soon, and the totals.
 */
export class SatMemory implements DerivedMemory {
  /** Null: blocks were taken back, and they are read again. */
  totals: SatTotals | null = null;
  #young = generation();
  #old = generation();

  find(name: string): HeldSats | undefined {
    return this.#young.outputs.get(name) ?? this.#old.outputs.get(name);
  }

  /** @param pairs numbers in the lists that these outputs share */
  learn(outputs: Iterable<readonly [name: string, held: HeldSats]>, pairs: number): void {
    for (const [name, held] of outputs) this.#young.outputs.set(name, held);
    this.#young.pairs += pairs;
    if (this.#young.outputs.size < outputsMax && this.#young.pairs < pairsMax) return;
    this.#old = this.#young;
    this.#young = generation();
  }

  forget(name: string): void {
    if (!this.#young.outputs.delete(name)) this.#old.outputs.delete(name);
  }

  unlearn(): void {
    this.#young = generation();
    this.#old = generation();
    this.totals = null;
  }
}
