/** How long after a search another search of a client is expected, in ms. */
const recentMs = 10_000;
/** How long each piece of background work waits at most for running searches, in ms. A search takes milliseconds. */
const pauseMsMax = 100;

/**
 * Tracks the searches of this process for background loads and builds. On a small machine, searches and background work
 * compete for the cores. A delay matters to a searching client, but not to a load of hours. So while searches run, and
 * for ten seconds after, pieces of background work run one by one, which leaves a core free, and no piece starts during
 * a search. Each piece is delayed by a tenth of a second at most.
 */
export class SearchDemand {
  #underWay = 0;
  #lastAskedAt = Number.NEGATIVE_INFINITY;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #endPause: (() => void) | null = null;
  readonly #now: () => number;

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** True if a search is running now, or ran within the last ten seconds. */
  get isRecent(): boolean {
    return this.#underWay > 0 || this.#now() - this.#lastAskedAt < recentMs;
  }

  /** Runs a search, and counts it as running. */
  async during<T>(search: () => Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await search();
    } finally {
      this.#lastAskedAt = this.#now();
      if (--this.#underWay === 0) this.#endPause?.();
    }
  }

  /**
   * Runs a piece of background work. Without searches, it runs at once. Otherwise it runs in its turn and between
   * searches. A piece must not wait for another piece. Throws the errors of the piece.
   */
  async turn<T>(piece: () => T | Promise<T>): Promise<T> {
    if (!this.isRecent) return piece();
    const before = this.#lastTurn;
    const work = before.then(() => this.#pause()).then(piece);
    this.#lastTurn = work.catch(() => undefined);
    return work;
  }

  #pause(): Promise<void> | undefined {
    if (this.#underWay === 0) return undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#endPause = null;
        resolve();
      };
      const timer = setTimeout(end, pauseMsMax);
      this.#endPause = end;
    });
  }
}
