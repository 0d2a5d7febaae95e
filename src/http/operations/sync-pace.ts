import type { Height } from '#kernel/primitives/height.ts';

/** An observation of the index while it grows. */
interface Look {
  readonly height: Height | -1;
  readonly atMs: number;
}

/**
 * Span of the pace: long enough to even out blocks of different sizes, short enough to follow a machine that gets busy.
 */
const windowMs = 60_000;
/** Least time between observations: closer ones say little about the pace. */
const leastMs = 4000;

/** The pace of a sync, from the observed heights of the last minute. */
export class SyncPace {
  #looks: readonly Look[] = [];

  /**
   * Adds an observation. A height below the last one belongs to another chain: earlier observations no longer count.
   */
  see(height: Height | -1, atMs: number): void {
    const last = this.#looks.at(-1);
    const kept = last !== undefined && height < last.height ? [] : this.#looks;
    this.#looks = [...kept.filter((look) => atMs - look.atMs <= windowMs), { height, atMs }];
  }

  /** Blocks per second; null: unknown yet. */
  blocksPerSecond(): number | null {
    const [first, last] = [this.#looks[0], this.#looks.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs) return null;
    return ((last.height - first.height) * 1000) / (last.atMs - first.atMs);
  }
}
