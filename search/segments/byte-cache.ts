/** What was used last, up to a number of bytes. For values that never change. */
export class ByteCache<Value> {
  readonly #bytesMax: number;
  // a Map keeps the order of insertion: the first entry is the one that was not used for longest
  readonly #entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value of a key that is not there yet; `bytes` is what it takes, its key included. */
  set(key: string, value: Value, bytes: number): void {
    if (this.#entries.has(key)) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
  }
}
