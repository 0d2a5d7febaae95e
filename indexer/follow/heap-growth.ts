import { setFlagsFromString } from 'node:v8';

/**
 * Growth of the heap, in per cent, after which V8 marks all of it again: up to four times the live objects, the most
 * that V8 chooses itself. By default, V8 marked 36 MB of live objects after every ten megabytes of blocks, which took a
 * tenth of our processor time. With 300 % there are up to 110 MB of garbage. Buffers outside the heap, such as pieces of
 * the node's answers, still start a marking after each 64 MB. To count them as part of the heap would save 5 % of our
 * processor time, but take 1,130 MB of memory in place of 640 MB.
 */
const growthOfLoadsPercent = 300;
/** Value with which V8 decides by itself. */
const growthByDefault = 0;

/** Runs a bulk load with fewer garbage collections. The setting applies to all threads of the process. */
export async function withRareCollections(load: () => Promise<void>): Promise<void> {
  setGrowth(growthOfLoadsPercent);
  try {
    await load();
  } finally {
    setGrowth(growthByDefault);
  }
}

function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
