import { BatchedReads } from './batched-reads.ts';

/** The signal of callers that never leave. */
const staying = new AbortController().signal;

/**
 * Makes a value for all callers, one run at a time. A caller that arrives during a run gets the result of the next run,
 * so each caller's result was begun after its call. A flood of requests causes one run after another, never two at
 * once.
 */
export class SharedMaking<T> {
  readonly #runs: BatchedReads<null, T>;

  /**
   * @param make must not use anything of a single caller, because other callers wait for its result. Its signal is
   *   aborted when all callers of the run have left.
   */
  constructor(make: (signal: AbortSignal) => Promise<T>) {
    const run = async (callers: readonly null[], signal: AbortSignal): Promise<T[]> => {
      const made = await make(signal);
      return callers.map(() => made);
    };
    this.#runs = new BatchedReads(run, { batches: 1, questions: Number.POSITIVE_INFINITY });
  }

  /**
   * Returns the value of the next run. Rejects if `make` rejects; the next caller is not affected. Also rejects with
   * the reason of the caller's signal. The run then continues for other callers.
   *
   * @param signal null for a caller that never leaves
   */
  async get(signal: AbortSignal | null): Promise<T> {
    signal?.throwIfAborted();
    const made = this.#runs.ask(null, signal ?? staying);
    return signal === null ? made : untilAborted(made, signal);
  }
}

/** Settles as a promise does, or rejects with the reason of a signal that is aborted earlier. */
function untilAborted<T>(made: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    const stay = (): void => signal.removeEventListener('abort', leave);
    made.then(stay, stay);
    made.then(resolve, reject);
  });
}
