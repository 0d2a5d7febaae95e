import { constants, getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority of the calling thread: it gets the processor time that others leave, about a tenth of a core
 * under full load. Only on Linux, where threads have priorities of their own. Raising it again needs rights that a
 * service lacks.
 */
export function runInBackground(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(
      Math.min(constants.priority.PRIORITY_LOW, getPriority() + constants.priority.PRIORITY_BELOW_NORMAL),
    );
  } catch {
    // a sandbox may forbid it, and it is only a courtesy
  }
}
