import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The memory of a process, as Linux counts it. */
export interface ProcessMemory {
  readonly bytes: number;
  /** Maximum memory since the last call of `forgetPeak`. */
  readonly peakBytes: number;
}

/** The memory of a process. Null if the process no longer exists. */
export function memoryOf(pid: number): ProcessMemory | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytesOf = (name: string): number =>
      1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'mu').exec(status)?.[1] ?? 0);
    return { bytes: bytesOf('VmRSS'), peakBytes: bytesOf('VmHWM') };
  } catch {
    return null;
  }
}

/** Sets the peak to the present size (proc(5), clear_refs). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Number of open files and sockets. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
