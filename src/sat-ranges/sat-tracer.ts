import { LRUCache } from 'lru-cache';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { takeSteps } from './take-steps.ts';
import type { TracedOutpoint, TracedOutput, TraceSource } from './trace-source.ts';
import { Walk } from './walk.ts';

/** Bounds of a walk. */
export interface TraceBounds {
  /** Transactions and lists of fees, over all requests for one output. A step makes the node read a block. */
  readonly steps: number;
  /** Milliseconds of one request. */
  readonly timeMs: number;
  /** Parts that the sats of an output came from: 6 MB of memory. */
  readonly ranges: number;
}

export const traceBounds: TraceBounds = { steps: 50_000, timeMs: 20_000, ranges: 50_000 };

/** The sats of an unspent output, or why they are unknown. */
export type TracedSats = { readonly output: TracedOutput; readonly steps: number } & (
  | { readonly state: 'known'; readonly ranges: readonly SatRange[] }
  | {
      readonly state: 'unknown';
      readonly reason: string;
      /** The output is in another block now, or in none: a later answer may differ. */
      readonly isReorganised: boolean;
    }
);

/** Maximum walks at once: their calls wait for each other, and for look-ups of outputs (node-trace-source.ts). */
const walksMax = 2;
const callsMax = 2;
const waitingMax = 64;
/** Ranges in memory: 64 bytes each. */
const knownRangesMax = 200_000;
/** Walks that ran out of time, to be continued: at most 6 MB each. */
const pausedMax = 8;

/** A walk in progress, and its number of waiting callers: it ends without any. */
interface RunningWalk {
  readonly result: Promise<TracedSats>;
  readonly stop: AbortController;
  askers: number;
}

type KnownSats = Extract<TracedSats, { state: 'known' }>;

/**
 * Ranges of sats of unspent outputs on demand: from an index of sats if it has them, else traced back through the node.
 * One walk serves all callers for its output. One that ran out of time is continued on the next request. Results are
 * valid as long as the output is in the same block, so they are kept by both.
 */
export class SatTracer {
  readonly #source: TraceSource;
  readonly #bounds: TraceBounds;
  readonly #now: () => number;
  readonly #known = new LRUCache<string, KnownSats>({
    maxSize: knownRangesMax,
    sizeCalculation: ({ ranges }) => ranges.length + 1,
  });
  readonly #paused = new LRUCache<string, Walk>({ max: pausedMax });
  readonly #running = new Map<string, RunningWalk>();
  readonly #gate = new FairGate({
    running: walksMax,
    each: 1,
    waiting: waitingMax,
    waitMs: traceBounds.timeMs,
    refusal: () => new AppError('sats_busy', 'too many outputs are being traced: try again in a few seconds'),
  });

  /** @param now a clock in milliseconds, for tests */
  constructor(
    source: TraceSource,
    bounds: TraceBounds = traceBounds,
    now: () => number = () => performance.now(),
  ) {
    this.#source = source;
    this.#bounds = bounds;
    this.#now = now;
  }

  /** For metrics: requests that wait for a walk. */
  get waiting(): QueueState {
    return this.#gate.state;
  }

  /**
   * The sats of an output; null: the chain has no such unspent output. Throws `sats_busy`, and the codes of NodeRpc.
   *
   * @param until when to give up, by `performance.now()`; absent: the time of one request from now
   */
  async trace(outpoint: TracedOutpoint, asker?: Asker, until?: number): Promise<TracedSats | null> {
    const output = await this.#source.output(outpoint, asker);
    if (output === null) return null;
    const key = `${output.txid}:${output.vout} ${output.blockHash}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const ranges = await this.#source.indexed?.(output, asker?.signal ?? null);
    if (ranges != null) return { output, state: 'known', steps: 0, ranges };
    // in the asker's own place, even if another client's walk for the same output still waits for one
    return this.#gate.run(asker, () => this.#join(key, output, asker, until));
  }

  /** Waits for the walk of an output, which all its callers share. */
  async #join(
    key: string,
    output: TracedOutput,
    asker: Asker | undefined,
    until = this.#now() + this.#bounds.timeMs,
  ): Promise<TracedSats> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const running = this.#running.get(key) ?? this.#start(key, output, until);
    running.askers++;
    const leave = (): void => {
      running.askers--;
      if (running.askers > 0) return;
      if (this.#running.get(key) === running) this.#running.delete(key);
      running.stop.abort();
    };
    asker?.signal.addEventListener('abort', leave, { once: true });
    try {
      return await running.result;
    } finally {
      asker?.signal.removeEventListener('abort', leave);
    }
  }

  #start(key: string, output: TracedOutput, until: number): RunningWalk {
    const stop = new AbortController();
    const result = this.#walk(key, output, until, stop.signal).finally(() => {
      if (this.#running.get(key) === running) this.#running.delete(key);
    });
    const running = { result, stop, askers: 0 };
    this.#running.set(key, running);
    return running;
  }

  async #walk(key: string, output: TracedOutput, until: number, signal: AbortSignal): Promise<TracedSats> {
    const walk = this.#paused.get(key) ?? new Walk(output);
    const unknown = (reason: string, isReorganised = false): TracedSats => {
      return { output, state: 'unknown', steps: walk.steps, reason, isReorganised };
    };
    const isOnChain = (): Promise<boolean> => this.#source.isOnChain(output.height, output.blockHash);
    const reorganised = 'the chain was reorganised meanwhile';
    const { steps: stepsMax, ranges: rangesMax } = this.#bounds;
    for (let steps = walk.next(); steps.length > 0; steps = walk.next()) {
      if (walk.steps >= stepsMax) return unknown(`its sats went through more than ${stepsMax} transactions`);
      if (walk.segments > rangesMax) return unknown(`it has more than ${rangesMax} ranges of sats`);
      if (signal.aborted || this.#now() >= until) {
        this.#paused.set(key, walk);
        signal.throwIfAborted();
        return unknown(
          `the time is over after ${walk.steps} transactions: asked again, it continues from there`,
        );
      }
      // no more than the rest of the bound, and a few at once, so that the time is checked often
      const missing = await takeSteps(
        this.#source,
        walk,
        steps.slice(0, Math.min(callsMax, stepsMax - walk.steps)),
      );
      // a reorganisation also moves the results
      if (missing !== null)
        return (await isOnChain()) ? unknown(missing.missing) : unknown(reorganised, true);
    }
    if (!(await isOnChain())) return unknown(reorganised, true);
    this.#paused.delete(key);
    const found: KnownSats = { output, state: 'known', steps: walk.steps, ranges: walk.ranges() };
    this.#known.set(key, found);
    return found;
  }
}
