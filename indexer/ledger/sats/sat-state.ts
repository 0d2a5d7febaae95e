/** The ranges of an unspent output: pairs (first sat, first sat after them) of a list that others share. */
export interface HeldSats {
  /** Of the block that made the output. */
  readonly height: number;
  readonly pairs: Float64Array;
  /** Of its first pair. */
  readonly first: number;
  /** Number of ranges. */
  readonly count: number;
}

/** Sats that no output has, of all blocks up to one. */
export interface SatTotals {
  readonly lostSats: number;
  readonly replacedSats: number;
}

/**
 * What the blocks of a batch know of outputs: those of earlier blocks that it was told, and those that its own blocks
 * made. Outpoints are named by their 36 bytes as text.
 */
export class SatState {
  /** Of all blocks so far: what coinbases left to nobody. */
  lostSats: number;
  /** And what was in outputs whose place a later coinbase took. */
  replacedSats: number;
  /** Null: spent by a block of the batch. */
  readonly #outputs = new Map<string, HeldSats | null>();
  /** Outputs that its own blocks made. */
  readonly #made = new Set<string>();

  constructor({ lostSats, replacedSats }: SatTotals) {
    this.lostSats = lostSats;
    this.replacedSats = replacedSats;
  }

  /** Tells it an unspent output of an earlier block. */
  learn(name: string, held: HeldSats): void {
    this.#outputs.set(name, held);
  }

  make(name: string, held: HeldSats): void {
    this.#outputs.set(name, held);
    this.#made.add(name);
  }

  /** Null: the batch has spent it. Undefined: the batch does not know it. */
  find(name: string): HeldSats | null | undefined {
    return this.#outputs.get(name);
  }

  /** Takes an output that is unspent; null: there is none. */
  spend(name: string): HeldSats | null {
    const held = this.#outputs.get(name) ?? null;
    if (held !== null) this.#outputs.set(name, null);
    return held;
  }

  /** The outputs of its own blocks that none of them has spent. */
  *left(): Generator<[name: string, held: HeldSats]> {
    for (const name of this.#made) {
      const held = this.#outputs.get(name);
      if (held != null) yield [name, held];
    }
  }
}
