import { constants, getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority of the calling thread. It then gets the processor time that other threads leave, about a tenth of
 * a core under full load. Works only on Linux, where threads have separate priorities. Raising the priority again needs
 * rights that a service lacks.
 */
export function runInBackground(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(
      Math.min(constants.priority.PRIORITY_LOW, getPriority() + constants.priority.PRIORITY_BELOW_NORMAL),
    );
  } catch {
    // a sandbox may forbid this, which is harmless
  }
}
