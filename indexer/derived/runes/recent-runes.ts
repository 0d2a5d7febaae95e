import { RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import { type KnownRune, transactionsMax } from '#indexer/ledger/runes/rune-state.ts';

/**
 * Maximum number of balances in one generation. They take 100 bytes each with their outputs, 26 MB in all. Two
 * generations have those outputs that a year of mainnet spends soonest: half of all outputs with runes are spent within
 * some hundred thousand others.
 */
const generationBalances = 1 << 18;
/**
 * Number of rows at the start of a first generation, which then grows (80 KB). A start or an undo must not cost the
 * memory of a full generation.
 */
const firstRows = 1 << 10;
/** Maximum number of runes with their totals: 300 bytes each, 15 MB. Some thousands of runes are active at a time. */
const runesMax = 50_000;

/**
 * The newest committed outputs with runes, and the runes that blocks named last, so that most blocks need no query. It
 * may lack outputs that the database has, but never has different data. If it knows an output, it has all its balances.
 * It may still have spent outputs, which the set of tracked outputs no longer has.
 */
export class RecentRunes {
  readonly #generationBalances: number;
  readonly #runesMax: number;
  /** The younger generation. When it is full it replaces the older generation, so no row is ever moved. */
  #young: RuneOutputs;
  #old: RuneOutputs;
  readonly #byKey = new Map<number, KnownRune>();
  readonly #byId = new Map<number, KnownRune>();

  /** @param most maximum number of balances of a generation, and of runes; absent: the usual bounds */
  constructor(most?: number) {
    this.#generationBalances = most ?? generationBalances;
    this.#runesMax = most ?? runesMax;
    this.#young = new RuneOutputs(firstRows);
    this.#old = new RuneOutputs();
  }

  /** Adds a committed, unspent output, given as a row of a table. */
  add(outputs: RuneOutputs, row: number): void {
    if (this.#young.balances >= this.#generationBalances) {
      this.#old = this.#young;
      // assume that the next generation will be as large
      this.#young = new RuneOutputs(this.#generationBalances);
    }
    this.#young.addAs(outputs, row);
  }

  /**
   * Copies an output to another table. The 36 bytes at `at` are its outpoint, with this fingerprint. Returns its row
   * there; -1 if it is not in memory.
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
    // insert the rune again at the end, so that the rune named last is dropped last
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
