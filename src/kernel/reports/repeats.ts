/** How often a failure that continues is logged, in ms. Without this limit, every attempt would be logged. */
const everyMs = 60_000;

/**
 * Decides whether to log a text. A text is logged if it differs from the last text, or if the last text was logged a
 * minute ago.
 */
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

  /** Call this when the work succeeds again, so that the next failure is logged immediately. */
  reset(): void {
    this.#last = null;
  }
}
