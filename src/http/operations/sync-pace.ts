import type { Height } from '#kernel/primitives/height.ts';

/** A look at the index while it grows. */
interface Look {
  readonly height: Height | -1;
  readonly atMs: number;
}

/** Long enough to even out blocks of different sizes, short enough to follow a machine that gets busy. */
const windowMs = 60_000;
/** Looks closer than this to each other say little about the pace. */
const leastMs = 4000;

/** The pace of a sync, from the heights at which the index was seen during the last minute. */
export class SyncPace {
  #looks: readonly Look[] = [];

  /** Notes a look. A height below the last one is another chain: what was seen before does not count. */
  see(height: Height | -1, atMs: number): void {
    const last = this.#looks.at(-1);
    const kept = last !== undefined && height < last.height ? [] : this.#looks;
    this.#looks = [...kept.filter((look) => atMs - look.atMs <= windowMs), { height, atMs }];
  }

  /** Blocks a second; null: not known yet. */
  blocksPerSecond(): number | null {
    const [first, last] = [this.#looks[0], this.#looks.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs) return null;
    return ((last.height - first.height) * 1000) / (last.atMs - first.atMs);
  }
}
