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
  /** Outputs of earlier blocks; null: spent by a block of the batch. */
  readonly #learnt = new Map<string, HeldSats | null>();
  /** Outputs that its own blocks made and left. */
  readonly #made = new Map<string, HeldSats>();

  constructor({ lostSats, replacedSats }: SatTotals) {
    this.lostSats = lostSats;
    this.replacedSats = replacedSats;
  }

  /** Tells it an unspent output of an earlier block. */
  learn(name: string, held: HeldSats): void {
    this.#learnt.set(name, held);
  }

  make(name: string, held: HeldSats): void {
    this.#made.set(name, held);
  }

  /** Null: the batch has spent it. Undefined: the batch does not know it, or has made and spent it. */
  find(name: string): HeldSats | null | undefined {
    return this.#made.get(name) ?? this.#learnt.get(name);
  }

  /** Takes an output that is unspent; null: there is none. */
  spend(name: string): HeldSats | null {
    const held = this.#learnt.get(name);
    if (held != null) {
      this.#learnt.set(name, null);
      return held;
    }
    const made = this.#made.get(name);
    if (made === undefined) return null;
    this.#made.delete(name);
    return made;
  }

  /** The outputs of earlier blocks that it was told and its blocks have not spent yet. */
  *learnt(): Generator<HeldSats> {
    for (const held of this.#learnt.values()) if (held !== null) yield held;
  }

  /** The outputs of its own blocks that none of them has spent, in the order of their blocks. */
  left(): IterableIterator<readonly [name: string, held: HeldSats]> {
    return this.#made.entries();
  }
}
