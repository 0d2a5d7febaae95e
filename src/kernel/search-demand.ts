/** Who searched a moment ago searches again. */
const recentMs = 10_000;
/** A search takes milliseconds: work in the background waits for it before each of its pieces, but no longer than this. */
const pauseMsMax = 100;

/**
 * Which searches there are in this process, for those who load or build in the background. On a small machine both want the same
 * cores, and who searches waits for a part of a second that nobody misses who loads for hours. So while somebody searches, and for ten
 * seconds more, pieces of background work come one after the other instead of all at once, which leaves a core free, and none begins
 * while a search is under way. Bounded: each piece is done in its turn, a tenth of a second late at most.
 */
export class SearchDemand {
  private underWay = 0;
  private lastAskedAt = Number.NEGATIVE_INFINITY;
  private lastTurn: Promise<unknown> = Promise.resolve();
  private endPause: (() => void) | null = null;
  private readonly now: () => number;

  /** @param now milliseconds that only grow */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Somebody searches, or did within the last ten seconds. */
  get isRecent(): boolean {
    return this.underWay > 0 || this.now() - this.lastAskedAt < recentMs;
  }

  /** Runs a search. */
  async during<T>(search: () => Promise<T>): Promise<T> {
    this.underWay++;
    try {
      return await search();
    } finally {
      this.lastAskedAt = this.now();
      if (--this.underWay === 0) this.endPause?.();
    }
  }

  /**
   * Runs a piece of background work: at once where nobody searches, else in its turn, and between searches. A piece must not wait for
   * another one. Throws what it throws.
   */
  async turn<T>(piece: () => T | Promise<T>): Promise<T> {
    if (!this.isRecent) return piece();
    const before = this.lastTurn;
    const work = before.then(() => this.pause()).then(piece);
    this.lastTurn = work.catch(() => undefined);
    return work;
  }

  private pause(): Promise<void> | undefined {
    if (this.underWay === 0) return undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.endPause = null;
        resolve();
      };
      const timer = setTimeout(end, pauseMsMax);
      this.endPause = end;
    });
  }
}
