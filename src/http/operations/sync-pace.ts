import type { Height } from '#kernel/primitives/height.ts';

/** The height of the index at one moment during a sync. */
interface Look {
  readonly height: Height | -1;
  readonly atMs: number;
}

/**
 * How long observations are used for the speed, in ms. It is long enough to average blocks of different sizes, and
 * short enough to notice when the machine gets busy.
 */
const windowMs = 60_000;
/** Minimum time between two observations, in ms. Observations that are closer together say little about the speed. */
const leastMs = 4000;

/** Computes the speed of a sync from the heights that were observed in the last minute. */
export class SyncPace {
  #looks: readonly Look[] = [];

  /**
   * Adds an observation. If its height is below the last one, it belongs to another chain, and the earlier observations
   * are dropped.
   */
  see(height: Height | -1, atMs: number): void {
    const last = this.#looks.at(-1);
    const kept = last !== undefined && height < last.height ? [] : this.#looks;
    this.#looks = [...kept.filter((look) => atMs - look.atMs <= windowMs), { height, atMs }];
  }

  /** Returns blocks per second. `null` if the speed is not known yet. */
  blocksPerSecond(): number | null {
    const [first, last] = [this.#looks[0], this.#looks.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs) return null;
    return ((last.height - first.height) * 1000) / (last.atMs - first.atMs);
  }
}
