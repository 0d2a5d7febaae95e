import { sumU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';

/**
 * Maximum number of keys for which all keys are scanned. A transaction usually has one or two runes, and a map costs
 * more than a scan of ten keys.
 */
const scannedMax = 10;

/** Amounts of runes by key, in reused memory. An amount can be 0. */
export class RuneAmounts {
  size = 0;
  readonly #keys: number[] = [];
  readonly #amounts: U128[] = [];
  /** Indexes by key. Only used if there are many keys. */
  readonly #places = new Map<number, number>();

  clear(): void {
    if (this.size > scannedMax) this.#places.clear();
    this.size = 0;
  }

  keyAt(place: number): number {
    return this.#keys[place]!;
  }

  amountAt(place: number): U128 {
    return this.#amounts[place]!;
  }

  has(key: number): boolean {
    return this.#placeOf(key) >= 0;
  }

  /** The amount of a key, or 0 if the key is absent. */
  get(key: number): U128 {
    const place = this.#placeOf(key);
    return place < 0 ? zeroU128 : this.#amounts[place]!;
  }

  set(key: number, amount: U128): void {
    const place = this.#placeOf(key);
    if (place < 0) this.#append(key, amount);
    else this.#amounts[place] = amount;
  }

  add(key: number, amount: U128): void {
    const place = this.#placeOf(key);
    if (place < 0) this.#append(key, amount);
    else this.#amounts[place] = sumU128(this.#amounts[place]!, amount);
  }

  /** Indexes of the amounts in the order of their keys, which is the order of the rune ids. */
  sorted(): readonly number[] {
    if (this.size === 1) return onlyPlace;
    return Array.from({ length: this.size }, (_, place) => place).sort(
      (a, b) => this.#keys[a]! - this.#keys[b]!,
    );
  }

  #placeOf(key: number): number {
    if (this.size > scannedMax) return this.#places.get(key) ?? -1;
    for (let place = 0; place < this.size; place++) if (this.#keys[place] === key) return place;
    return -1;
  }

  #append(key: number, amount: U128): void {
    const place = this.size++;
    this.#keys[place] = key;
    this.#amounts[place] = amount;
    if (this.size === scannedMax + 1)
      for (let earlier = 0; earlier < place; earlier++) this.#places.set(this.#keys[earlier]!, earlier);
    if (this.size > scannedMax) this.#places.set(key, place);
  }
}

const onlyPlace = [0] as const;
