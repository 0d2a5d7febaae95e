import { constants, getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority of the thread that calls it: it gets what the others leave, some tenth of a processor where they want all of
 * it. On Linux alone, where priorities are of threads; elsewhere it would be the whole process. It cannot be raised again without
 * rights that a service does not have.
 */
export function runInBackground(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(
      Math.min(constants.priority.PRIORITY_LOW, getPriority() + constants.priority.PRIORITY_BELOW_NORMAL),
    );
  } catch {
    // a sandbox may forbid it, and it is but a courtesy
  }
}
