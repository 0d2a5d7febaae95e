import { RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import { type KnownRune, transactionsMax } from '#indexer/ledger/runes/rune-state.ts';

/**
 * Balances of one generation: 100 bytes each with their outputs, 26 MB. Two generations have the outputs that a year of
 * mainnet spends soonest: half of all outputs with runes are spent within some hundred thousand others.
 */
const generationBalances = 1 << 18;
/** Rows of a first generation, which grows: 80 KB. A start or an undo must not cost the memory of a full one. */
const firstRows = 1 << 10;
/** Runes with their totals: 300 bytes each, 15 MB. Some thousands are minted and moved at a time. */
const runesMax = 50_000;

/**
 * The newest committed outputs with runes, and the runes that blocks named last, so that most blocks need no query. It
 * may know fewer outputs than the database, never different ones. Its knowledge of an output is complete. It may still
 * have spent outputs, which the set of tracked outputs lacks.
 */
export class RecentRunes {
  readonly #generationBalances: number;
  readonly #runesMax: number;
  /** The younger generation. When it is full it replaces the older one: no row is ever moved. */
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

  /** Adds a committed, unspent output: a row of a table. */
  add(outputs: RuneOutputs, row: number): void {
    if (this.#young.balances >= this.#generationBalances) {
      this.#old = this.#young;
      // the next generation will be as large
      this.#young = new RuneOutputs(this.#generationBalances);
    }
    this.#young.addAs(outputs, row);
  }

  /**
   * Copies the output that the 36 bytes at `at` name, with this fingerprint, to another table. Returns its row there;
   * -1: it is not remembered.
   */
  tell(into: RuneOutputs, outpoint: DataView, at: number, low: number, high: number): number {
    for (const known of [this.#young, this.#old]) {
      const row = known.find(outpoint, at, low, high);
      if (row >= 0) return into.addAs(known, row);
    }
    return -1;
  }

  /** Stores the committed state of a rune. */
  learn(rune: KnownRune): void {
    const { key, block, tx } = rune.entry;
    // the rune that was named last is dropped last
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

  /** Forgets everything. Call it after blocks were taken back. */
  forget(): void {
    this.#young = new RuneOutputs(firstRows);
    this.#old = new RuneOutputs();
    this.#byKey.clear();
    this.#byId.clear();
  }
}
