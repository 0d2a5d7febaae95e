import { type About, type IsMeant, type Laps, mainTrack, type Span, stageClock, type Wait } from './span.ts';
import { byWay } from './stage-list.ts';
import { otherRow, processCpu, type StageRow, type StageSums } from './stage-sums.ts';

/** Receives every event immediately. */
export interface TraceSink {
  event(event: TraceEvent): void;
  /** Receives the sums, once at the end. */
  close(sums: StageSums): void;
}

export interface TraceEvent {
  readonly kind: 'stage' | 'wait';
  readonly name: string;
  readonly track: string;
  readonly from: number;
  readonly to: number;
  readonly details: Readonly<Record<string, unknown>>;
}

interface Sums {
  count: number;
  ms: number;
  cpuMs: number | null;
  waitMs: number;
  bytes: number;
  rows: number;
  readonly waitedFor: Map<string, number>;
}

/**
 * Maximum number of recent spans. Waits are shorter than a batch, and on a usual chain these spans cover some seconds.
 */
const recentMax = 4096;
/**
 * How late a span may arrive, in ms. Spans of workers arrive with the results of the workers, which may wait in a queue
 * for the main thread.
 */
const lateMs = 500;
/** Minimum duration of a wait that is divided among stages, in ms. Shorter waits are too small to see. */
const dividedMs = 0.5;
/** Half-life of the sums that `bound` uses, in ms. */
const halfLifeMs = 5000;

/**
 * Records the stages of a sync, with their work and their waits. Each wait is charged to the stage that was waited for.
 * Without a sink, the recorder only keeps sums of a few spans per block (microseconds), for `bound`. With a sink it is
 * `isDetailed`, and the callers also record workers' stages and statements.
 */
export class StageRecorder {
  #sink: TraceSink | null;
  readonly #sums = new Map<string, Sums>();
  /** The newest spans, in a ring. Waits are included as spans of the stages that were waited for. */
  readonly #recent: Span[] = [];
  #next = 0;
  readonly #tracks = new Map<string, boolean[]>();
  readonly #critical = new Map<string, number>();
  #forgottenAt = stageClock();
  readonly #cpuOfTracks = new Map<string, number>();
  readonly #before = processCpu();
  readonly #startedAt = stageClock();
  #serverCpuMs: () => number | null = () => null;

  constructor(sink: TraceSink | null = null) {
    this.#sink = sink;
  }

  /** True if there is a sink, which receives every stage. */
  get isDetailed(): boolean {
    return this.#sink !== null;
  }

  /** Records work of a stage. */
  span(span: Span): void {
    this.#add(span);
    this.#emit('stage', span.stage, span, { ...details(span), processorMs: roundedOrNull(span.cpuMs) });
  }

  /** Records the laps of a thread, in their order. */
  laps({ spans }: Pick<Laps, 'spans'>, track: string, about: About = {}): void {
    for (const lap of spans) this.span({ ...lap, ...about, track });
  }

  /** Records a wait of a stage. */
  waited(wait: Wait): void {
    const { stage, track, from, to } = wait;
    const waitedMs = to - from;
    if (waitedMs <= 0) return;
    const isDivided = this.isDetailed || waitedMs >= dividedMs;
    const parts = isDivided ? this.#divide(wait) : [{ stage: wait.otherwise, from, to }];
    for (const part of parts) this.#remember({ ...part, track, cpuMs: null });
    const charges = sumsOf(parts);
    this.#charge(stage, charges, waitedMs);
    const [longest] = [...charges].toSorted(([, one], [, other]) => other - one);
    const name = `wait: ${longest?.[0] ?? wait.otherwise}`;
    this.#emit('wait', name, wait, { ...details(wait), waitedFor: roundedAll(charges), stage });
  }

  /**
   * Records a statement that has ended on a connection. Time without computing is a wait. It is a wait for the main
   * thread while the main thread computed, and otherwise for the disk, for locks or for a free processor.
   */
  statement(statement: Span): void {
    const { stage, from, to, cpuMs } = statement;
    this.#add(statement);
    const idleMs = cpuMs === null ? 0 : Math.max(0, to - from - cpuMs);
    const parts = this.#divide({ ...statement, on: [isMain], otherwise: 'disk, locks, processors' });
    const share = idleMs / (to - from);
    const charges = new Map([...sumsOf(parts)].map(([name, ms]) => [name, ms * share]));
    if (idleMs > 0) this.#charge(stage, charges, idleMs);
    const waitedFor = cpuMs === null ? null : roundedAll(charges);
    this.#emit('stage', stage, statement, {
      ...details(statement),
      processorMs: roundedOrNull(cpuMs),
      waitedFor,
    });
  }

  /** Reserves the first free track among the numbered tracks of a name, for work that runs several times at once. */
  takeTrack(name: string): { readonly track: string; readonly free: () => void } {
    const taken = this.#tracks.get(name) ?? [];
    this.#tracks.set(name, taken);
    const index = taken.includes(false) ? taken.indexOf(false) : taken.length;
    taken[index] = true;
    return {
      track: `${name} ${index + 1}`,
      free: () => {
        taken[index] = false;
      },
    };
  }

  /**
   * The group of stages that took most of the main thread's recent time, or made the main thread wait. `null` if
   * nothing was recorded.
   */
  bound(groupOf: (stage: string) => string): string | null {
    const now = stageClock();
    const groups = new Map<string, number>();
    for (const [stage, ms] of this.#critical)
      groups.set(groupOf(stage), (groups.get(groupOf(stage)) ?? 0) + ms);
    const [longest] = [...groups].toSorted(([, one], [, other]) => other - one);
    const kept = 0.5 ** ((now - this.#forgottenAt) / halfLifeMs);
    this.#forgottenAt = now;
    for (const [stage, ms] of this.#critical) this.#critical.set(stage, ms * kept);
    return longest?.[0] ?? null;
  }

  /**
   * Sets the function that reads the processor time of all processes of the database since a fixed moment. This
   * function returns null if the time is unknown.
   */
  readServer(cpuMs: () => number | null): void {
    this.#serverCpuMs = cpuMs;
  }

  /** The sums so far, in whole microseconds. With details, processor time outside of stages is included. */
  sums(): StageSums {
    const { mainMs, allMs } = processCpu();
    const [main, all] = [mainMs - this.#before.mainMs, allMs - this.#before.allMs];
    const processes = { satscribe: rounded(all), postgres: roundedOrNull(this.#serverCpuMs()) };
    const rows = [...this.#sums].map(([stage, { ms, cpuMs, waitMs, waitedFor, ...sums }]) => ({
      stage,
      ms: rounded(ms),
      cpuMs: roundedOrNull(cpuMs),
      waitMs: rounded(waitMs),
      ...sums,
      waitedFor: roundedAll(waitedFor),
    }));
    const others = this.isDetailed ? this.#otherRows(main, processes) : [];
    return {
      ms: rounded(stageClock() - this.#startedAt),
      rows: [...rows.toSorted(byWay), ...others],
      processes,
    };
  }

  /** Ends the details and closes the sink. Returns the sums, or null if there were no details. */
  end(): StageSums | null {
    const sink = this.#sink;
    if (sink === null) return null;
    const sums = this.sums();
    this.#sink = null;
    sink.close(sums);
    return sums;
  }

  #add(span: Span): void {
    const sums = this.#sumsOf(span.stage);
    sums.count++;
    sums.ms += span.to - span.from;
    if (span.cpuMs !== null) {
      sums.cpuMs = (sums.cpuMs ?? 0) + span.cpuMs;
      this.#cpuOfTracks.set(span.track, (this.#cpuOfTracks.get(span.track) ?? 0) + span.cpuMs);
    }
    sums.bytes += span.bytes ?? 0;
    sums.rows += span.rows ?? 0;
    this.#remember(span);
  }

  #charge(stage: string, charges: ReadonlyMap<string, number>, waitedMs: number): void {
    const sums = this.#sumsOf(stage);
    sums.waitMs += waitedMs;
    for (const [name, ms] of charges) sums.waitedFor.set(name, (sums.waitedFor.get(name) ?? 0) + ms);
  }

  #sumsOf(stage: string): Sums {
    let sums = this.#sums.get(stage);
    if (sums === undefined) {
      sums = { count: 0, ms: 0, cpuMs: null, waitMs: 0, bytes: 0, rows: 0, waitedFor: new Map() };
      this.#sums.set(stage, sums);
    }
    return sums;
  }

  #remember(span: Span): void {
    this.#recent[this.#next] = span;
    this.#next = (this.#next + 1) % recentMax;
    if (span.track !== mainTrack) return;
    this.#critical.set(span.stage, (this.#critical.get(span.stage) ?? 0) + span.to - span.from);
  }

  /** Divides a wait among the stages that ran during the wait. */
  #divide({ from, to, on, otherwise }: Omit<Wait, 'stage' | 'track'>): Part[] {
    let left: readonly Gap[] = [{ from, to }];
    const parts: Part[] = [];
    for (const isMeant of on) {
      if (left.length === 0) break;
      for (const span of this.#since(from)) {
        if (span.from >= to || !isMeant(span)) continue;
        const rest: Gap[] = [];
        for (const gap of left) {
          const start = Math.max(gap.from, span.from);
          const end = Math.min(gap.to, span.to);
          if (start >= end) {
            rest.push(gap);
            continue;
          }
          parts.push({ stage: span.stage, from: start, to: end });
          if (gap.from < start) rest.push({ from: gap.from, to: start });
          if (end < gap.to) rest.push({ from: end, to: gap.to });
        }
        left = rest;
      }
    }
    for (const gap of left) parts.push({ stage: otherwise, ...gap });
    return parts;
  }

  /** Spans that ended after a time, newest first. */
  *#since(from: number): Generator<Span> {
    const least = this.isDetailed ? from - lateMs : from;
    for (let back = 1; back <= this.#recent.length; back++) {
      const span = this.#recent[(this.#next - back + recentMax) % recentMax];
      if (span === undefined || span.to < least) return;
      yield span;
    }
  }

  #emit(
    kind: TraceEvent['kind'],
    name: string,
    span: Pick<Span, 'track' | 'from' | 'to'>,
    of: Record<string, unknown>,
  ): void {
    const { track, from, to } = span;
    this.#sink?.event({ kind, name, track, from, to, details: of });
  }

  /** Processor time of threads and processes outside of the recorded stages. */
  #otherRows(main: number, { satscribe, postgres }: StageSums['processes']): StageRow[] {
    const rows = [
      otherRow('main thread, other', rounded(main - this.#cpuOf((track) => track === mainTrack))),
      otherRow(
        'other threads (V8, libuv)',
        rounded(satscribe - main - this.#cpuOf((track) => threadTrack.test(track))),
      ),
    ];
    if (postgres === null) return rows;
    return [
      ...rows,
      otherRow('Postgres, other', rounded(postgres - this.#cpuOf((track) => isConnection(track)))),
    ];
  }

  #cpuOf(isMeant: (track: string) => boolean): number {
    return [...this.#cpuOfTracks].reduce((sum, [track, ms]) => sum + (isMeant(track) ? ms : 0), 0);
  }
}

/** Whether a track is a connection of the database. Its work is not done by this process. */
export function isConnection(track: string): boolean {
  return /\bconnection\b/u.test(track);
}

const threadTrack = /^(parser|sealer)\b/u;

interface Gap {
  readonly from: number;
  readonly to: number;
}

interface Part extends Gap {
  readonly stage: string;
}

/** Whether a span is work of the main thread, and not a wait. */
const isMain: IsMeant = ({ track, cpuMs }) => track === mainTrack && cpuMs !== null;

function sumsOf(parts: readonly Part[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { stage, from, to } of parts) sums.set(stage, (sums.get(stage) ?? 0) + to - from);
  return sums;
}

function details({ height, heights, bytes, rows }: About): Record<string, unknown> {
  return { height, heights, bytes, rows };
}

/** Rounds to microseconds, which are the resolution of a trace. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function roundedOrNull(ms: number | null): number | null {
  return ms === null ? null : rounded(ms);
}

function roundedAll(sums: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...sums].map(([name, ms]) => [name, rounded(ms)]));
}
