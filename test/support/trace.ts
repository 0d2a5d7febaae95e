import { readFileSync } from 'node:fs';

export interface ReadEvent {
  readonly name: string;
  readonly ph: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The events of a trace file. Throws if it is not valid JSON. */
export function readTrace(path: string): ReadEvent[] {
  return JSON.parse(readFileSync(path, 'utf8')) as ReadEvent[];
}

export function completeEvents(events: readonly ReadEvent[]): ReadEvent[] {
  return events.filter(({ ph }) => ph === 'X');
}

/** Track names by number. */
export function trackNames(events: readonly ReadEvent[]): Map<number, string> {
  const names = events.filter(({ name }) => name === 'thread_name');
  return new Map(names.map(({ tid, args }) => [tid, String(args['name'])]));
}

/** Events that overlap another event of their track, and are not within it. A viewer shows such events wrongly. */
export function unnested(events: readonly ReadEvent[]): ReadEvent[] {
  const open = new Map<number, number[]>();
  const sorted = completeEvents(events).toSorted((one, other) => one.ts - other.ts || other.dur - one.dur);
  return sorted.filter(({ tid, ts, dur }) => {
    const ends = (open.get(tid) ?? []).filter((end) => end > ts);
    const isWithin = ends.every((end) => ts + dur <= end);
    open.set(tid, [...ends, ts + dur]);
    return !isWithin;
  });
}
