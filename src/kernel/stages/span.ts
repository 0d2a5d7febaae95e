import { performance } from 'node:perf_hooks';
import { threadDelayMs } from './process-times.ts';

/** Facts about a span, if they are known. */
export interface About {
  readonly height?: number;
  /** Heights of a batch, e.g. `767430-767433`. */
  readonly heights?: string;
  readonly bytes?: number;
  readonly rows?: number;
}

/** A stage of a sync at work. Times are milliseconds of `stageClock`. */
export interface Span extends About {
  readonly stage: string;
  /** A thread or a connection. Spans of one track follow each other, or one contains the other. */
  readonly track: string;
  readonly from: number;
  readonly to: number;
  /** Its processor time; null: unknown. */
  readonly cpuMs: number | null;
}

export type IsMeant = (span: Span) => boolean;

/** A stage that could not run because another one was not done. */
export interface Wait extends About {
  readonly stage: string;
  readonly track: string;
  readonly from: number;
  readonly to: number;
  /** The spans that it waited for; those of the second list count only while none of the first one ran. */
  readonly on: readonly IsMeant[];
  /** Stage that it waited for while none of them ran. */
  readonly otherwise: string;
}

/** The track of the main thread's work, batch after batch. */
export const mainTrack = 'main thread';
/** The tracks of the two connections of the writer. */
export const writerTrack = 'writer connection';
export const readerTrack = 'reader connection';

/** Milliseconds since 1970 with fractions, the same in all threads of this process. */
export function stageClock(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Consecutive pieces of synchronous work of the calling thread. A worker returns them with its result. Their processor
 * time is the elapsed time, without that in which other threads had the processors.
 */
export class Laps {
  readonly spans: Pick<Span, 'stage' | 'from' | 'to' | 'cpuMs' | 'rows' | 'bytes'>[] = [];
  readonly #isExact: boolean;
  #from = stageClock();
  #delayMs: number;

  /** @param isExact measure how long other threads had the processors: some microseconds for each lap */
  constructor(isExact: boolean) {
    this.#isExact = isExact;
    this.#delayMs = isExact ? threadDelayMs() : 0;
  }

  /** Ends a lap: the work since the previous one was of this stage. */
  lap(stage: string, counts: Pick<About, 'bytes' | 'rows'> = {}): void {
    const to = stageClock();
    const delayMs = this.#isExact ? threadDelayMs() : 0;
    const cpuMs = Math.max(0, to - this.#from - (delayMs - this.#delayMs));
    this.spans.push({ stage, from: this.#from, to, cpuMs, ...counts });
    this.#from = to;
    this.#delayMs = delayMs;
  }
}
