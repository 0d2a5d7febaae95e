import { statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

const inMemory = '/dev/shm';
/** Space for all databases of a run at once and their logs, in bytes, with some reserve. */
const roomBytes = 4 * 1024 ** 3;

/**
 * Returns the folder for the databases of tests. It is in memory if there is room. A run makes and drops more than a
 * thousand databases of 400 files each, which takes ten times as long on the file system of a new disk.
 */
export function databaseFolder(): string {
  return freemem() >= roomBytes && freeBytes() >= roomBytes ? inMemory : tmpdir();
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize;
  } catch {
    // other systems do not have this folder
    return 0;
  }
}
