import { performance } from 'node:perf_hooks';

export interface Variant {
  readonly name: string;
  /** Runs once over the complete input. */
  run(): unknown;
}

const warmUpPasses = 3;
const leastMs = 200; // a shorter time would measure the timer and the scheduler

/**
 * Measures how long one pass of each variant takes, in ms, with one value for each round. In every round the variants
 * take turns, so that other load on the machine affects all equally.
 */
export async function takeTurns(
  variants: readonly Variant[],
  rounds: number,
): Promise<Map<string, number[]>> {
  const passes = new Map<string, number>();
  for (const variant of variants) {
    let fastestMs = Number.POSITIVE_INFINITY;
    for (let pass = 0; pass < warmUpPasses; pass++) {
      const start = performance.now();
      await variant.run();
      fastestMs = Math.min(fastestMs, performance.now() - start);
    }
    passes.set(variant.name, Math.max(1, Math.ceil(leastMs / fastestMs)));
  }
  const times = new Map<string, number[]>(variants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const variant of variants) {
      const count = passes.get(variant.name) as number;
      const start = performance.now();
      for (let pass = 0; pass < count; pass++) await variant.run();
      times.get(variant.name)?.push((performance.now() - start) / count);
    }
  }
  return times;
}
