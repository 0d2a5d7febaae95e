import type { Rune } from '#kernel/runes/rune.ts';
import type { SearchCondition, WatchCondition } from '#watches/reading/watch-condition.ts';
import { add, SaleIndex, type WatchedSale } from './sale-index.ts';
import { type UndecidedWords, WatchIndex } from './watch-index.ts';
import type { WatchedInscription } from './watched-inscription.ts';

/** An active watch. */
export interface LiveWatch {
  readonly id: string;
  /** Only blocks of later rows of the outbox are matched. */
  readonly since: number;
  readonly condition: WatchCondition;
}

type Found = (watch: LiveWatch) => void;

/**
 * Number of new searches up to which they have an index of their own. The index of all searches is rebuilt after
 * that many, because making it takes a tenth of a second for 10,000 searches.
 */
const freshMax = 256;

/** All active watches, ready to be matched. */
export class LiveWatches {
  readonly #watches = new Map<string, LiveWatch>();
  /** Two indexes of searches: most of them, and the newest. Ended searches stay in them until they are rebuilt. */
  #most = new WatchIndex<LiveWatch>([]);
  #newest = new WatchIndex<LiveWatch>([]);
  #fresh: LiveWatch[] = [];
  #ended = 0;
  #sales = new SaleIndex<LiveWatch>([]);
  #runes = new Map<string, LiveWatch[]>();
  #receipts = new Map<string, LiveWatch[]>();

  get size(): number {
    return this.#watches.size;
  }

  get ids(): IterableIterator<string> {
    return this.#watches.keys();
  }

  has(id: string): boolean {
    return this.#watches.has(id);
  }

  /** Whether any search asks for an inscription in a gallery. Galleries are long, so they are not read in vain. */
  get wantsGalleries(): boolean {
    return this.#some(
      ({ condition }) => 'search' in condition && condition.search.filter.gallery !== undefined,
    );
  }

  get hasSearches(): boolean {
    return this.#most.size + this.#newest.size > 0;
  }

  get hasSales(): boolean {
    return this.#sales.size > 0;
  }

  get hasRunes(): boolean {
    return this.#runes.size > 0;
  }

  /** Derived tables of the index that have rows of things which the watches find. */
  get derivedTables(): string[] {
    const needs = {
      sales: this.hasSales,
      runes: this.hasRunes || this.#receipts.size > 0,
      properties: this.#some(({ condition }) => 'search' in condition && needsProperties(condition.search)),
    };
    return Object.entries(needs).flatMap(([name, isNeeded]) => (isNeeded ? [name] : []));
  }

  /** The outbox row after which the oldest watch matches. Earlier blocks match no watch. Null: no watch is active. */
  get since(): number | null {
    let least: number | null = null;
    for (const { since } of this.#watches.values()) least = Math.min(least ?? since, since);
    return least;
  }

  /** Whether any watch of sales asks for a collection. */
  get wantsCollections(): boolean {
    return this.#some(({ condition }) => condition.kind === 'sales' && condition.sales.collection !== null);
  }

  /** Scripts of the watches of receipts. */
  get scripts(): Buffer[] {
    return [...this.#receipts.keys()].map((hex) => Buffer.from(hex, 'hex'));
  }

  /** Adds new watches, and removes watches that have ended. */
  change(created: readonly LiveWatch[], ended: readonly string[]): void {
    for (const id of ended) if (this.#watches.delete(id)) this.#ended++;
    for (const watch of created) this.#watches.set(watch.id, watch);
    const isSearch = ({ condition }: LiveWatch): boolean => 'search' in condition;
    this.#fresh = [...this.#fresh, ...created.filter(isSearch)].filter(({ id }) => this.has(id));
    if (this.#fresh.length > freshMax || this.#ended > freshMax) {
      this.#most = indexOf([...this.#watches.values()].filter(isSearch));
      this.#fresh = [];
      this.#ended = 0;
    }
    this.#newest = indexOf(this.#fresh);
    this.#indexOthers();
  }

  #indexOthers(): void {
    const all = [...this.#watches.values()];
    this.#sales = new SaleIndex(
      all.flatMap((watch) =>
        watch.condition.kind === 'sales' ? [{ watch, sales: watch.condition.sales }] : [],
      ),
    );
    this.#runes = new Map();
    this.#receipts = new Map();
    for (const watch of all) {
      const { condition } = watch;
      if (condition.kind === 'runes')
        add(this.#runes, runeKey(condition.runes.event, condition.runes.rune), watch);
      if (condition.kind === 'receipts') add(this.#receipts, condition.script.toString('hex'), watch);
    }
  }

  /**
   * Finds the searches that match an inscription, and returns those for which texts must still be searched for words.
   */
  matchInscription(inscription: WatchedInscription, found: Found): UndecidedWords<LiveWatch>[] {
    const live: Found = (watch) => {
      if (this.has(watch.id)) found(watch);
    };
    return [...this.#most.match(inscription, live), ...this.#newest.match(inscription, live)];
  }

  matchSale(sale: WatchedSale, found: Found): void {
    this.#sales.match(sale, found);
  }

  matchRune(event: 'etched' | 'minted-out', rune: Rune, found: Found): void {
    for (const key of [runeKey(event, rune), runeKey(event, null)])
      for (const watch of this.#runes.get(key) ?? []) found(watch);
  }

  matchReceipt(script: Uint8Array, found: Found): void {
    for (const watch of this.#receipts.get(Buffer.from(script).toString('hex')) ?? []) found(watch);
  }

  #some(test: (watch: LiveWatch) => boolean): boolean {
    for (const watch of this.#watches.values()) if (test(watch)) return true;
    return false;
  }
}

const needsProperties = ({ filter: { title, traits, gallery } }: SearchCondition): boolean =>
  title !== undefined || traits !== undefined || gallery !== undefined;

const indexOf = (watches: readonly LiveWatch[]): WatchIndex<LiveWatch> =>
  new WatchIndex(
    watches.flatMap((watch) =>
      'search' in watch.condition ? [{ watch, search: watch.condition.search }] : [],
    ),
  );

const runeKey = (event: string, rune: Rune | null): string => `${event} ${rune ?? 'any'}`;
