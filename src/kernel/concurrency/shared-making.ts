/**
 * One making of a value at a time, shared by all callers. A caller that asks while one is running gets the next one, so
 * each value was begun after the call. A flood of requests costs one making after another, never two at once.
 */
export class SharedMaking<T> {
  readonly #make: () => Promise<T>;
  #running: Promise<T> | null = null;
  #next: Promise<T> | null = null;

  /** @param make uses nothing of the caller, not even a signal: others wait for its result */
  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Rejects as `make` does; the next caller is not affected. */
  get(): Promise<T> {
    if (this.#next !== null) return this.#next;
    if (this.#running === null) return this.#begin();
    const begin = (): Promise<T> => {
      this.#next = null;
      return this.#begin();
    };
    this.#next = this.#running.then(begin, begin);
    return this.#next;
  }

  #begin(): Promise<T> {
    const made = this.#make();
    this.#running = made;
    const end = (): void => {
      if (this.#running === made) this.#running = null;
    };
    made.then(end, end);
    return made;
  }
}
