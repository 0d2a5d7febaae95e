/** A failure that lasts is a line of the log this often, not with every attempt. */
const everyMs = 60_000;

/** Tells whether something is to be said: it is another thing than the last time, or was last said a minute ago. */
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

  /** It works again: the next failure is said at once. */
  reset(): void {
    this.#last = null;
  }
}
