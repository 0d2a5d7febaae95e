import { setFlagsFromString } from 'node:v8';

/**
 * Growth of the heap before V8 marks all of it again: to four times the live objects, the most that V8 chooses itself.
 * Memory outside of the heap counts too (each piece of an answer from the node, each buffer to Postgres), and by
 * default some 8 MB of it are enough. So 36 MB of live objects were marked after every ten megabytes of blocks, for a
 * tenth of our processor time. With 300 % there are up to 110 MB of garbage.
 */
const growthOfLoadsPercent = 300;
/** Value with which V8 decides by itself. */
const growthByDefault = 0;

/** Runs a bulk load with rarer collections. The setting holds for all threads of the process. */
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
