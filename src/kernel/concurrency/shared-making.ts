/**
 * One making of a value at a time, shared by all who ask: whoever asks while one is made gets the next one, so what
 * they get was begun after they asked. A flood of requests costs one making after another, and never two at once.
 */
export class SharedMaking<T> {
  readonly #make: () => Promise<T>;
  #running: Promise<T> | null = null;
  #next: Promise<T> | null = null;

  /** @param make takes nothing from who asks, no signal either: others wait for its result */
  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Rejects as `make` does; the next one to ask is not affected. */
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
