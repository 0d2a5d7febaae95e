import type { SalesCondition } from '#watches/reading/watch-condition.ts';

/** A sale in the form in which watches are compared with it. */
export interface WatchedSale {
  readonly price: number;
  readonly maker: Uint8Array;
  readonly taker: Uint8Array | null;
  /** Slug of the inscription's collection. Null: no collection, or unknown because no watch asks for one. */
  readonly collection: string | null;
}

/** A watch of sales. */
interface Entry<Watch> {
  readonly watch: Watch;
  readonly sales: SalesCondition;
}

/**
 * All watches of sales. A watch is found by its address, else by its collection. Only watches of a price are all
 * compared.
 */
export class SaleIndex<Watch> {
  readonly #byScript = new Map<string, Entry<Watch>[]>();
  readonly #byCollection = new Map<string, Entry<Watch>[]>();
  readonly #byPrice: Entry<Watch>[] = [];
  readonly size: number;

  constructor(watches: readonly Entry<Watch>[]) {
    this.size = watches.length;
    for (const entry of watches) {
      const { script, collection } = entry.sales;
      if (script !== null) add(this.#byScript, script.toString('hex'), entry);
      else if (collection === null) this.#byPrice.push(entry);
      else add(this.#byCollection, collection, entry);
    }
  }

  match(sale: WatchedSale, found: (watch: Watch) => void): void {
    const parties = new Set(
      [sale.maker, sale.taker ?? sale.maker].map((script) => Buffer.from(script).toString('hex')),
    );
    const lists = [
      ...[...parties].map((script) => this.#byScript.get(script) ?? []),
      this.#byCollection.get(sale.collection ?? '') ?? [],
      this.#byPrice,
    ];
    for (const list of lists) for (const { watch, sales } of list) if (passes(sales, sale)) found(watch);
  }
}

function passes({ collection, minPrice, maxPrice }: SalesCondition, sale: WatchedSale): boolean {
  if (minPrice !== null && sale.price < minPrice) return false;
  if (maxPrice !== null && sale.price > maxPrice) return false;
  return collection === null || sale.collection === collection;
}

/** Adds to the list of a key. */
export function add<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
