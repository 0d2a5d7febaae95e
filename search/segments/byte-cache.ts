import { LRUCache } from 'lru-cache';

/** The most recently used values, up to a number of bytes. For values that never change. */
export class ByteCache<Value> {
  // in an object of its own, because the cache takes neither null nor undefined for a value
  readonly #entries: LRUCache<string, { readonly value: Value }>;

  constructor(bytesMax: number) {
    this.#entries = new LRUCache({ maxSize: bytesMax });
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /**
   * Adds the value of a new key; `bytes` is its size, including its key. A value larger than the cache is not kept.
   */
  set(key: string, value: Value, bytes: number): void {
    if (!this.#entries.has(key)) this.#entries.set(key, { value }, { size: bytes });
  }
}
