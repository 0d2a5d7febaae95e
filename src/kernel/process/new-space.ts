import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Maximum size in bytes to which V8's space for new objects grows during a load. V8 doubles the space while much of it
 * survives, up to 134 MB, and then touches all of it. With a quarter of that, a load takes 2 % more processor time of
 * Node.
 */
const loadBytesMax = 32 * 1024 * 1024;
/**
 * How often the size is checked, in ms. The space doubles at most once in that time, because a load fills it some times
 * per second.
 */
const lookEveryMs = 100;
/** Growth factors of the space: one stops growth, two is V8's own. */
const growth = { none: 1, byDefault: 2 };

/**
 * Loads modules in the space that a process begins with. Their objects survive, so they alone would enlarge the space
 * to 67 MB. Costs twenty milliseconds of processor time.
 */
export async function loadingInSmallSpace<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  setGrowth(growth.none);
  try {
    return await load();
  } finally {
    setGrowth(growth.byDefault);
  }
}

/**
 * Keeps the main thread's space below its maximum while work is done. V8 has no call to limit a running space. While
 * the space is large, the spaces of other threads stop growing too.
 */
export async function inBoundedSpace(work: () => Promise<void>): Promise<void> {
  bound();
  const looks = setInterval(bound, lookEveryMs);
  try {
    await work();
  } finally {
    clearInterval(looks);
    setGrowth(growth.byDefault);
  }
}

/** Sets the bound. If little is allocated, V8 shrinks the space again: then it may grow. */
function bound(): void {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const isLarge = space !== undefined && space.space_size >= loadBytesMax;
  setGrowth(isLarge ? growth.none : growth.byDefault);
}

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
