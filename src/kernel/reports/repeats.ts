/** How often a lasting failure is logged, in ms, instead of with every attempt. */
const everyMs = 60_000;

/** Decides whether to log something: if it differs from the last time, or was last logged a minute ago. */
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

  /** Call once the work succeeds again, so that the next failure is logged immediately. */
  reset(): void {
    this.#last = null;
  }
}
