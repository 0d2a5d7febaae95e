import { setTimeout as delay } from 'node:timers/promises';
import { scenarioNamed } from './all-scenarios.ts';
import type { AttackRun } from './attack-run.ts';
import { memoryOf, openFiles } from './service/process-memory.ts';
import type { ServiceUnderAttack } from './service/service-under-attack.ts';
import { bounds } from './verdict.ts';

/** Memory and connections of a process at one moment. */
interface Holding {
  readonly seconds: number;
  readonly memoryBytes: number;
  /** Size of the heap after a garbage collection. */
  readonly heapBytes: number;
  readonly files: number;
  /** Handles of the event loop by kind, and gauges of /metrics: streams, connections, and connections of the pools. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface SoakResult {
  /** Growth of memory after the warm-up, in bytes per hour. */
  readonly memorySlope: number;
  readonly heapSlope: number;
  /** Memory after eight hours if it grows at the same rate. */
  readonly inEightHoursBytes: number;
  readonly before: Holding;
  readonly after: Holding;
  readonly faults: readonly string[];
}

const sampleEveryMs = 10_000;
/** Share of the time that is warm-up. While caches fill and code is compiled, growth says nothing about leaks. */
const warmUpShare = 0.25;
const hours = 8;
/**
 * How long the soak test waits after the load, in ms. By then, connections that were kept alive (limits.ts) are closed,
 * and idle connections of the pools too.
 */
const quietMs = 90_000;
const gauges =
  /^(satscribe_queue_length\{queue="event streams"\}|satscribe_http_connections|satscribe_pg_connections\{[^}]*state="(?:used|waiting)"\}) (\S+)$/gmu;
/** Number of connections that the measurement itself uses. */
const ownConnections = 3;

/**
 * Runs a mixed load for some minutes. If memory grows, or if handles, streams and connections remain, these are leaks.
 */
export async function soak(
  service: ServiceUnderAttack,
  run: AttackRun,
  minutes: number,
  say: (line: string) => void,
): Promise<SoakResult> {
  const startedAt = performance.now();
  const hold = async (): Promise<Holding> => holding(service, (performance.now() - startedAt) / 1000);
  // the first load opens pools and threads, which stay open
  await run.run(scenarioNamed('mixed'), 10);
  const before = await hold();
  const samples: Holding[] = [];
  let isOver = false;
  const load = run.run(scenarioNamed('mixed'), minutes * 60).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([delay(sampleEveryMs), load]);
    if (isOver) break;
    const sample = await hold();
    samples.push(sample);
    say(
      `${Math.round(sample.seconds)} s: ${megabytes(sample.memoryBytes)}, heap ${megabytes(sample.heapBytes)}, ${sample.files} files`,
    );
  }
  const { isAlive } = await load;
  if (!isAlive) throw new Error('the process died');
  const after = await quiet(hold, before);
  return judged(samples, before, after);
}

/** Computes the slopes of the samples after the warm-up, and finds handles that did not exist before the load. */
export function judged(samples: readonly Holding[], before: Holding, after: Holding): SoakResult {
  const warm = samples.slice(Math.floor(samples.length * warmUpShare));
  const memorySlope = slopeOf(warm.map(({ seconds, memoryBytes }) => [seconds, memoryBytes])) * 3600;
  const heapSlope = slopeOf(warm.map(({ seconds, heapBytes }) => [seconds, heapBytes])) * 3600;
  const inEightHoursBytes = (warm.at(-1)?.memoryBytes ?? 0) + Math.max(0, memorySlope) * hours;
  const faults = leftOver(before, after);
  if (inEightHoursBytes > bounds.memoryBytes) {
    faults.push(`${megabytes(inEightHoursBytes)} in ${hours} hours`);
  }
  return { memorySlope, heapSlope, inEightHoursBytes, before, after, faults };
}

/** The rise of y for each x, by least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const variance = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (points.length < 2 || variance === 0) return 0;
  return points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / variance;
}

/** The result in lines for people. */
export function soakLines({
  memorySlope,
  heapSlope,
  inEightHoursBytes,
  before,
  after,
  faults,
}: SoakResult): string[] {
  const names = [...new Set([...Object.keys(before.counts), ...Object.keys(after.counts)])].sort();
  const counts = names.map((name) => `  ${name}: ${before.counts[name] ?? 0} → ${after.counts[name] ?? 0}`);
  return [
    `memory ${megabytes(before.memoryBytes)} → ${megabytes(after.memoryBytes)}, ${megabytes(memorySlope)} an hour; ` +
      `heap ${megabytes(before.heapBytes)} → ${megabytes(after.heapBytes)}, ${megabytes(heapSlope)} an hour`,
    `in ${hours} hours: ${megabytes(inEightHoursBytes)}`,
    `before and after the load:`,
    `  files and sockets: ${before.files} → ${after.files}`,
    ...counts,
    faults.length === 0 ? 'soak: flat, nothing left over' : `soak: FAILED ${faults.join('; ')}`,
  ];
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/**
 * Waits until nothing of the load is left. Waits at most as long as the service needs to close everything by itself.
 */
async function quiet(hold: () => Promise<Holding>, before: Holding): Promise<Holding> {
  const until = performance.now() + quietMs;
  for (;;) {
    const now = await hold();
    if (leftOver(before, now).length === 0 || performance.now() > until) return now;
    await delay(1000);
  }
}

function leftOver(before: Holding, after: Holding): string[] {
  const faults: string[] = [];
  if (after.files > before.files + ownConnections) faults.push(`files ${before.files} → ${after.files}`);
  for (const [name, count] of Object.entries(after.counts)) {
    const earlier = before.counts[name] ?? 0;
    if (count > earlier + ownConnections) faults.push(`${name} ${earlier} → ${count}`);
  }
  return faults;
}

async function holding(service: ServiceUnderAttack, seconds: number): Promise<Holding> {
  await service.collect();
  const probe = await service.sample();
  const counts: Record<string, number> = { ...probe?.resources };
  const answer = await fetch(`http://127.0.0.1:${service.port}/metrics`, {
    headers: { connection: 'close' },
  });
  for (const [, name, value] of (await answer.text()).matchAll(gauges)) counts[name!] = Number(value);
  return {
    seconds,
    memoryBytes: memoryOf(service.pid)?.bytes ?? 0,
    heapBytes: probe?.heapBytes ?? 0,
    files: openFiles(service.pid),
    counts,
  };
}
