import { RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import { type KnownRune, transactionsMax } from '#indexer/ledger/runes/rune-state.ts';

/**
 * Balances of one generation: 100 bytes each with their outputs, 26 MB. Two of them have all outputs that a year of
 * mainnet spends soonest: half of all runic outputs are spent within some hundred thousand others.
 */
const generationBalances = 1 << 18;
/** Rows of a first generation, which grows: 80 KB. A start and an undo must not cost the memory of a full one. */
const firstRows = 1 << 10;
/** Runes with their totals: 300 bytes each, 15 MB. What is minted and moved at a time are some thousands. */
const runesMax = 50_000;

/**
 * The newest outputs with runes that are committed, and the runes that blocks named last: so that most blocks ask the
 * database nothing. It may know less than the database, never anything different. What it knows of an output is
 * complete. It may still have outputs that are spent: the set of tracked outputs has not.
 */
export class RecentRunes {
  readonly #generationBalances: number;
  readonly #runesMax: number;
  /** When the younger one is full it takes the place of the older: nothing is ever moved. */
  #young: RuneOutputs;
  #old: RuneOutputs;
  readonly #byKey = new Map<number, KnownRune>();
  readonly #byId = new Map<number, KnownRune>();

  /** @param most balances of a generation, and runes; absent: the usual bounds */
  constructor(most?: number) {
    this.#generationBalances = most ?? generationBalances;
    this.#runesMax = most ?? runesMax;
    this.#young = new RuneOutputs(firstRows);
    this.#old = new RuneOutputs();
  }

  /** Learns an output that is committed and unspent: a row of a table. */
  add(outputs: RuneOutputs, row: number): void {
    if (this.#young.balances >= this.#generationBalances) {
      this.#old = this.#young;
      // the next generation will be as large
      this.#young = new RuneOutputs(this.#generationBalances);
    }
    this.#young.addAs(outputs, row);
  }

  /**
   * Adds the output that the 36 bytes at `at` name, and that has this fingerprint, to another table. Returns its row
   * there; -1: it is not remembered.
   */
  tell(into: RuneOutputs, outpoint: DataView, at: number, low: number, high: number): number {
    for (const known of [this.#young, this.#old]) {
      const row = known.find(outpoint, at, low, high);
      if (row >= 0) return into.addAs(known, row);
    }
    return -1;
  }

  /** Learns a rune as it is after what is committed. */
  learn(rune: KnownRune): void {
    const { key, block, tx } = rune.entry;
    // the last one named is the last one to go
    this.#byKey.delete(key);
    this.#byKey.set(key, rune);
    this.#byId.set(block * transactionsMax + tx, rune);
    for (const [oldest, { entry }] of this.#byKey) {
      if (this.#byKey.size <= this.#runesMax) break;
      this.#byKey.delete(oldest);
      this.#byId.delete(entry.block * transactionsMax + entry.tx);
    }
  }

  byKey(key: number): KnownRune | undefined {
    return this.#byKey.get(key);
  }

  byId(block: number, tx: number): KnownRune | undefined {
    return tx < transactionsMax ? this.#byId.get(block * transactionsMax + tx) : undefined;
  }

  /** To call when blocks were taken back. */
  forget(): void {
    this.#young = new RuneOutputs(firstRows);
    this.#old = new RuneOutputs();
    this.#byKey.clear();
    this.#byId.clear();
  }
}
