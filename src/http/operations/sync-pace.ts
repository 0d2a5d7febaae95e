import type { Height } from '#kernel/primitives/height.ts';

/** A height of the index at a moment, while the index grows. */
interface Look {
  readonly height: Height | -1;
  readonly atMs: number;
}

/**
 * Length of the window for the pace, in ms: long enough to even out blocks of different sizes, short enough to notice
 * when the machine gets busy.
 */
const windowMs = 60_000;
/** Minimum time between observations, in ms. Observations closer together say little about the pace. */
const leastMs = 4000;

/** The pace of a sync, from the observed heights of the last minute. */
export class SyncPace {
  #looks: readonly Look[] = [];

  /**
   * Adds an observation. If the height is below the last one, it belongs to another chain, so earlier observations are
   * dropped.
   */
  see(height: Height | -1, atMs: number): void {
    const last = this.#looks.at(-1);
    const kept = last !== undefined && height < last.height ? [] : this.#looks;
    this.#looks = [...kept.filter((look) => atMs - look.atMs <= windowMs), { height, atMs }];
  }

  /** Blocks per second. Null: unknown yet. */
  blocksPerSecond(): number | null {
    const [first, last] = [this.#looks[0], this.#looks.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs) return null;
    return ((last.height - first.height) * 1000) / (last.atMs - first.atMs);
  }
}
