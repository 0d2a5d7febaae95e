import { LRUCache } from 'lru-cache';

/** The most recently used values, up to a number of bytes. Use it only for values that never change. */
export class ByteCache<Value> {
  // each value is wrapped in an object, because the cache accepts neither null nor undefined as a value
  readonly #entries: LRUCache<string, { readonly value: Value }>;

  constructor(bytesMax: number) {
    this.#entries = new LRUCache({ maxSize: bytesMax });
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /**
   * Adds the value of a new key. `bytes` is the size of the value and its key. A value larger than the cache is not
   * stored.
   */
  set(key: string, value: Value, bytes: number): void {
    if (!this.#entries.has(key)) this.#entries.set(key, { value }, { size: bytes });
  }
}
