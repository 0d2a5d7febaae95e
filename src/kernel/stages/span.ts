import { performance } from 'node:perf_hooks';
import { threadDelayMs } from './process-times.ts';

/** Facts about a span. Unknown facts are absent. */
export interface About {
  readonly height?: number;
  /** Heights of a batch, for example `767430-767433`. */
  readonly heights?: string;
  readonly bytes?: number;
  readonly rows?: number;
}

/** Time in which a stage of a sync works. Times are milliseconds of `stageClock`. */
export interface Span extends About {
  readonly stage: string;
  /** A thread or a connection. Of two spans of the same track, one follows the other or contains it. */
  readonly track: string;
  readonly from: number;
  readonly to: number;
  /** Processor time of the span. `null` if unknown. */
  readonly cpuMs: number | null;
}

export type IsMeant = (span: Span) => boolean;

/** Time in which a stage could not run because another stage was not done. */
export interface Wait extends About {
  readonly stage: string;
  readonly track: string;
  readonly from: number;
  readonly to: number;
  /**
   * Conditions for the spans that the stage waited for. Spans of the second condition are used only for the time in
   * which no span of the first condition ran.
   */
  readonly on: readonly IsMeant[];
  /** Stage to which the rest of the wait is charged, in which none of these spans ran. */
  readonly otherwise: string;
}

/** The track of the main thread's work, one batch after another. */
export const mainTrack = 'main thread';
/** The tracks of the two connections of the writer. */
export const writerTrack = 'writer connection';
export const readerTrack = 'reader connection';

/** Current time in milliseconds since 1970, with fractions. It is the same in all threads of this process. */
export function stageClock(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Consecutive pieces of synchronous work of the calling thread. A worker returns them with its result. Their processor
 * time is the elapsed time, minus the time in which other threads used the processors.
 */
export class Laps {
  readonly spans: Pick<Span, 'stage' | 'from' | 'to' | 'cpuMs' | 'rows' | 'bytes'>[] = [];
  readonly #isExact: boolean;
  #from = stageClock();
  #delayMs: number;

  /**
   * @param isExact true to measure how long other threads used the processors, which takes some microseconds for each
   *   lap
   */
  constructor(isExact: boolean) {
    this.#isExact = isExact;
    this.#delayMs = isExact ? threadDelayMs() : 0;
  }

  /** Ends a lap. All work since the previous lap belongs to this stage. */
  lap(stage: string, counts: Pick<About, 'bytes' | 'rows'> = {}): void {
    const to = stageClock();
    const delayMs = this.#isExact ? threadDelayMs() : 0;
    const cpuMs = Math.max(0, to - this.#from - (delayMs - this.#delayMs));
    this.spans.push({ stage, from: this.#from, to, cpuMs, ...counts });
    this.#from = to;
    this.#delayMs = delayMs;
  }
}
