import { openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/**
 * Number of nanoseconds per millisecond, and of milliseconds per clock tick (USER_HZ is 100 on all of Linux's
 * platforms).
 */
const nanoseconds = 1e6;
const tickMs = 10;

/**
 * The open file of the calling thread. Each thread has its own copy of this module. `null` if there is no such file.
 */
let ownThread: number | null | undefined;
const ownTimes = Buffer.alloc(100);

/**
 * Number of milliseconds in which the calling thread could have run, but other threads used the processors. 0 if the
 * system does not report it. Processor time itself is too coarse, because Linux updates it only every few milliseconds.
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

/** Data about a process. Times are milliseconds of processor time so far, in ticks of 10 ms. */
export interface ProcessStat {
  readonly parent: number;
  /** Processor time of all threads of the process. */
  readonly cpuMs: number;
  /** Processor time of ended children of the process, including their own ended children. */
  readonly endedChildrenMs: number;
}

/**
 * Reads the data of a process. `null` if unknown, because only Linux reports it. In proc_pid_stat(5), a name in
 * brackets may contain any character.
 */
export function processStat(pid: number): ProcessStat | null {
  const text = readProc(`${pid}/stat`);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields.length < 15) return null;
  const ticks = (first: number): number => (Number(fields[first]) + Number(fields[first + 1])) * tickMs;
  return { parent: Number(fields[1]), cpuMs: ticks(11), endedChildrenMs: ticks(13) };
}

/** Maximum number of walks over the children. More are needed only if children keep ending during the walks. */
const walksMax = 5;

/**
 * Processor time of a process, its children and its ended children, in milliseconds. `null` if unknown. A child that
 * ends during the walk over the children would be missing, so the walk is then repeated.
 */
export function familyCpuMs(pid: number): number | null {
  let own = processStat(pid);
  let ms: number | null = null;
  for (let walk = 0; walk < walksMax && own !== null; walk++) {
    ms = own.cpuMs + own.endedChildrenMs + childrenMs(pid);
    const after = processStat(pid);
    if (after?.endedChildrenMs === own.endedChildrenMs) break;
    own = after;
  }
  return ms;
}

function childrenMs(pid: number): number {
  let ms = 0;
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
    // the process has ended
    return null;
  }
}
