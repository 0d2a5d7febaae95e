import { statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

const inMemory = '/dev/shm';
/** More than all databases of a run at once, and their logs. */
const roomBytes = 4 * 1024 ** 3;

/**
 * Folder of the databases of tests: in memory, if there is room. A run makes and drops more than a thousand, of 400
 * files each; on a new one that takes a disk's file system ten times as long.
 */
export function databaseFolder(): string {
  return freemem() >= roomBytes && freeBytes() >= roomBytes ? inMemory : tmpdir();
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize;
  } catch {
    // other systems have no such folder
    return 0;
  }
}
