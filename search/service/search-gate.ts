import { AppError } from '#kernel/errors/app-error.ts';

export interface SearchGateOptions {
  /** Searches that run at once. */
  readonly running?: number;
  /** Searches that wait for a free place. */
  readonly waiting?: number;
  /** The longest wait, in milliseconds. */
  readonly waitMs?: number;
}

/**
 * Ten connections serve all reads (kernel/pg/pool.ts). Six for searches leave four to pages, contents and look-ups,
 * which take a millisecond each.
 */
const runningDefault = 6;
/** Ten rounds of all that run: the last one waits about as long as a slow search takes. */
const waitingDefault = 60;
/** After this time the client has closed the page, or asks again. */
const waitMsDefault = 10_000;

interface Waiting {
  readonly enter: () => void;
}

/** Runs a bounded number of searches at once and lets a bounded number wait. Others are refused at once. */
export class SearchGate {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  readonly #waitMs: number;
  #running = 0;
  readonly #queue = new Set<Waiting>();

  constructor(options: SearchGateOptions = {}) {
    this.#runningMax = options.running ?? runningDefault;
    this.#waitingMax = options.waiting ?? waitingDefault;
    this.#waitMs = options.waitMs ?? waitMsDefault;
  }

  /** How many wait now, and how many may. */
  get state(): { readonly length: number; readonly limit: number } {
    return { length: this.#queue.size, limit: this.#waitingMax };
  }

  /**
   * Runs `work` when a place is free. Throws `search_busy` where too many wait already or the wait was too long, and
   * the signal's reason where it was aborted before the start.
   */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running >= this.#runningMax) await this.#wait(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** A free place goes to the search that has waited longest; later arrivals queue behind. */
  #leave(): void {
    const [next] = this.#queue;
    if (next === undefined) this.#running--;
    else next.enter();
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#queue.size >= this.#waitingMax) throw busy();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#queue.delete(waiting);
      };
      const waiting: Waiting = {
        enter: () => {
          settle();
          resolve();
        },
      };
      const onAbort = (): void => {
        settle();
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        settle();
        reject(busy());
      }, this.#waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(waiting);
    });
  }
}

function busy(): AppError {
  return new AppError(
    'search_busy',
    'too many questions like this are under way: try again in a few seconds',
  );
}
