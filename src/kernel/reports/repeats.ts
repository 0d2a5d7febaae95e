/** How often a lasting failure is logged, instead of with every attempt. */
const everyMs = 60_000;

/** Whether to log something: it differs from the last time, or was last logged a minute ago. */
export class Repeats {
  readonly #now: () => number;
  #last: string | null = null;
  #saidAt = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  isDue(what: string): boolean {
    const now = this.#now();
    if (what === this.#last && now - this.#saidAt < everyMs) return false;
    this.#last = what;
    this.#saidAt = now;
    return true;
  }

  /** Call once it works again: the next failure is logged at once. */
  reset(): void {
    this.#last = null;
  }
}
