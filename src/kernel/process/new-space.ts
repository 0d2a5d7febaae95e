import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * The size from which on V8's space for new objects grows no more during a load. V8 doubles it while much of it
 * survives, to 134 MB, and then touches all of it; with a quarter a load takes 2 % more processor time of Node.
 */
const loadBytesMax = 32 * 1024 * 1024;
/** Between two looks it doubles once at most: a load fills it some times a second. */
const lookEveryMs = 100;
/** A space that grows by a factor of one does not grow; two is V8's own factor. */
const growth = { none: 1, byDefault: 2 };

/**
 * Loads modules in the space that a process begins with. What they are made of survives, so it would be enlarged by
 * them alone, to 67 MB; it takes twenty milliseconds of processor time more.
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
 * Keeps the main thread's space below its bound while work is done: V8 has no call for a bound of a running one. While it
 * is large, those of other threads grow no more either.
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

/** Where little is allocated V8 makes it smaller again: then it may grow. */
function bound(): void {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const isLarge = space !== undefined && space.space_size >= loadBytesMax;
  setGrowth(isLarge ? growth.none : growth.byDefault);
}

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
