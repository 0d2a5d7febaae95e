import { stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

/** f_type of a tmpfs (man 2 statfs). */
const tmpfsMagic = 0x01021994;
const writableByAll = 0o002;

/** Memory of the machine, or of the container where that is less. */
export function memoryBytes(): number {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Free bytes of /dev/shm. 0: there is none, or the server's account cannot use it. */
export async function sharedMemoryBytes(): Promise<number> {
  try {
    const [{ mode }, { type, bavail, bsize }] = await Promise.all([stat('/dev/shm'), statfs('/dev/shm')]);
    return type === tmpfsMagic && (mode & writableByAll) !== 0 ? bavail * bsize : 0;
  } catch {
    return 0;
  }
}
