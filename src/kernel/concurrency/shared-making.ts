/**
 * Makes a value for all callers, one run at a time. A caller that arrives during a run gets the result of the next run,
 * so each caller's result was begun after its call. A flood of requests causes one run after another, never two at
 * once.
 */
export class SharedMaking<T> {
  readonly #make: () => Promise<T>;
  #running: Promise<T> | null = null;
  #next: Promise<T> | null = null;

  /** @param make must not use anything of the caller, not even a signal, because other callers wait for its result */
  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Returns the value of the next run. Rejects if `make` rejects; the next caller is not affected. */
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
