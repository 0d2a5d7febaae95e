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
  /**
   * Maximum number of steps for one output, over all requests. A step reads a transaction or a list of fees. For each
   * step the node reads a block.
   */
  readonly steps: number;
  /** Maximum time of one request, in ms. */
  readonly timeMs: number;
  /** Maximum number of parts into which a walk divides the sats of an output. The parts need at most 6 MB of memory. */
  readonly ranges: number;
}

export const traceBounds: TraceBounds = { steps: 50_000, timeMs: 20_000, ranges: 50_000 };

/** The sats of an unspent output, or the reason why they are unknown. */
export type TracedSats = { readonly output: TracedOutput; readonly steps: number } & (
  | { readonly state: 'known'; readonly ranges: readonly SatRange[] }
  | {
      readonly state: 'unknown';
      readonly reason: string;
      /** Whether the output is now in another block, or in no block. A later answer may then differ. */
      readonly isReorganised: boolean;
    }
);

/**
 * Maximum number of concurrent walks. Calls of the walks wait for each other, and for look-ups of outputs
 * (node-trace-source.ts).
 */
const walksMax = 2;
const callsMax = 2;
const waitingMax = 64;
/** Maximum number of cached ranges. Each needs 64 bytes. */
const knownRangesMax = 200_000;
/**
 * Maximum number of paused walks. Each needs at most 6 MB. A walk is paused when its time is over, and the next request
 * continues it.
 */
const pausedMax = 8;

/**
 * A walk in progress, with the number of callers that wait for its result. The walk stops if no caller waits any more.
 */
interface RunningWalk {
  readonly result: Promise<TracedSats>;
  readonly stop: AbortController;
  askers: number;
}

type KnownSats = Extract<TracedSats, { state: 'known' }>;

/**
 * Finds the sat ranges of unspent outputs on request. The ranges come from an index of sats if it has them, otherwise
 * from a walk back through the node. One walk serves all callers for the same output. If a walk ran out of time, the
 * next request continues it. Results are cached by output and block, because they are valid as long as the output is in
 * the same block.
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
    refusal: () => new AppError('sats_busy', 'too many outputs are being traced; try again in a few seconds'),
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

  /** Number of requests that wait for a walk, for metrics. */
  get waiting(): QueueState {
    return this.#gate.state;
  }

  /**
   * Finds the sats of an output. Returns null if the chain has no such unspent output. Throws `sats_busy`, and the
   * codes of `NodeRpc`.
   *
   * @param until time at which to stop, in ms of `performance.now()`. Absent: the walk stops after the maximum time of
   *   one request.
   */
  async trace(outpoint: TracedOutpoint, asker?: Asker, until?: number): Promise<TracedSats | null> {
    const output = await this.#source.output(outpoint, asker);
    if (output === null) return null;
    const key = `${output.txid}:${output.vout} ${output.blockHash}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const ranges = await this.#source.indexed?.(output, asker?.signal ?? null);
    if (ranges != null) return { output, state: 'known', steps: 0, ranges };
    // each request waits in the queue of its own client, even if another client already waits for the same output
    return this.#gate.run(asker, () => this.#join(key, output, asker, until));
  }

  /** Waits for the walk of an output. All callers for the same output share one walk. */
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
    const reorganised = 'meanwhile the chain was reorganised';
    const { steps: stepsMax, ranges: rangesMax } = this.#bounds;
    for (let steps = walk.next(); steps.length > 0; steps = walk.next()) {
      if (walk.steps >= stepsMax) return unknown(`its sats went through more than ${stepsMax} transactions`);
      if (walk.segments > rangesMax) return unknown(`it has more than ${rangesMax} ranges of sats`);
      if (signal.aborted || this.#now() >= until) {
        this.#paused.set(key, walk);
        signal.throwIfAborted();
        return unknown(
          `the time is over after ${walk.steps} transactions; the next request continues from there`,
        );
      }
      // few steps at a time, so that the time is checked often, and the maximum number of steps is not exceeded
      const missing = await takeSteps(
        this.#source,
        walk,
        steps.slice(0, Math.min(callsMax, stepsMax - walk.steps)),
      );
      // missing or wrong data may be caused by a reorganisation
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
