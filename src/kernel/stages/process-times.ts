import { openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/** Nanoseconds per millisecond, and milliseconds per clock tick (USER_HZ is 100 on all of Linux's platforms). */
const nanoseconds = 1e6;
const tickMs = 10;

/** The file of the calling thread, kept open: each thread has its own copy of this module. Null: no file. */
let ownThread: number | null | undefined;
const ownTimes = Buffer.alloc(100);

/**
 * Milliseconds in which the calling thread could have run, but other threads had the processors; 0 if the system does
 * not report it. Processor time itself is too coarse: Linux updates it every few milliseconds.
 */
export function threadDelayMs(): number {
  if (ownThread === undefined) ownThread = openOwnThread();
  if (ownThread === null) return 0;
  const length = readSync(ownThread, ownTimes, 0, ownTimes.length, 0);
  return Number(ownTimes.toString('latin1', 0, length).split(' ')[1]) / nanoseconds;
}

function openOwnThread(): number | null {
  try {
    return openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return null;
  }
}

/** Times are processor milliseconds so far, in ticks of 10 ms. */
export interface ProcessStat {
  readonly parent: number;
  /** Processor time of all its threads. */
  readonly cpuMs: number;
  /** Processor time of its children that have ended, and of theirs. */
  readonly endedChildrenMs: number;
}

/** Null: unknown; only Linux reports it. proc_pid_stat(5): a name in brackets may contain any character. */
export function processStat(pid: number): ProcessStat | null {
  const text = readProc(`${pid}/stat`);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields.length < 15) return null;
  const ticks = (first: number): number => (Number(fields[first]) + Number(fields[first + 1])) * tickMs;
  return { parent: Number(fields[1]), cpuMs: ticks(11), endedChildrenMs: ticks(13) };
}

/** Processor milliseconds of a process, its children, and those of its children that have ended. Null: unknown. */
export function familyCpuMs(pid: number): number | null {
  const own = processStat(pid);
  if (own === null) return null;
  let ms = own.cpuMs + own.endedChildrenMs;
  for (const name of readdirSync('/proc')) {
    const child = /^\d+$/u.test(name) ? processStat(Number(name)) : null;
    if (child?.parent === pid) ms += child.cpuMs + child.endedChildrenMs;
  }
  return ms;
}

function readProc(name: string): string | null {
  if (process.platform !== 'linux') return null;
  try {
    return readFileSync(`/proc/${name}`, 'utf8');
  } catch {
    // it has ended
    return null;
  }
}
