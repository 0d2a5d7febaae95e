import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Maximum size to which V8's space for new objects grows during a load, in bytes. V8 doubles the space while many of
 * its objects survive, up to 134 MB, and then uses all of the space. With a quarter of that, a load takes 2 % more
 * processor time of Node.
 */
const loadBytesMax = 32 * 1024 * 1024;
/**
 * How often the size is checked, in ms. The space doubles at most once in that time, because a load fills the space a
 * few times per second.
 */
const lookEveryMs = 100;
/** Growth factors of the space. With `none` the space does not grow. `byDefault` is V8's own factor. */
const growth = { none: 1, byDefault: 2 };

/**
 * Loads modules while the space keeps the size that it has at the start of a process. Objects of modules survive, so
 * they alone would enlarge the space to 67 MB. This costs twenty milliseconds of processor time.
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
 * Keeps the main thread's space below its maximum while work is done. V8 has no call that limits a space in use. While
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

/**
 * Sets the growth factor by the current size. If little is allocated, V8 shrinks the space, and then the space may grow
 * again.
 */
function bound(): void {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const isLarge = space !== undefined && space.space_size >= loadBytesMax;
  setGrowth(isLarge ? growth.none : growth.byDefault);
}

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
