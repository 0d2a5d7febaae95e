import { AppError } from '#kernel/errors/app-error.ts';

export interface SearchGateOptions {
  /** Searches at once. */
  readonly running?: number;
  /** Searches that wait for one of them to end. */
  readonly waiting?: number;
  /** So long one waits at most. */
  readonly waitMs?: number;
}

/**
 * Ten connections read for everybody (kernel/pg/pool.ts): six for searches leave four to pages, contents and look-ups,
 * which take a millisecond each.
 */
const runningDefault = 6;
/** Ten turns of all that run: the last one waits about as long as a slow search takes. */
const waitingDefault = 60;
/** Who waits longer has closed the page, or asks again. */
const waitMsDefault = 10_000;

interface Waiting {
  readonly enter: () => void;
}

/** Lets a bounded number of searches run at once, and a bounded number wait; the others are refused at once. */
export class SearchGate {
  private readonly runningMax: number;
  private readonly waitingMax: number;
  private readonly waitMs: number;
  private running = 0;
  private readonly queue = new Set<Waiting>();

  constructor(options: SearchGateOptions = {}) {
    this.runningMax = options.running ?? runningDefault;
    this.waitingMax = options.waiting ?? waitingDefault;
    this.waitMs = options.waitMs ?? waitMsDefault;
  }

  /** How many wait, and may. */
  get state(): { readonly length: number; readonly limit: number } {
    return { length: this.queue.size, limit: this.waitingMax };
  }

  /**
   * Runs `work` when there is room. Throws `search_busy` where too many wait already or it waited too long, and the
   * signal's reason where that is aborted before it began.
   */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.running >= this.runningMax) await this.wait(signal);
    else this.running++;
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** The room of who leaves goes to the first who waits: nobody who comes later is before it. */
  private leave(): void {
    const [next] = this.queue;
    if (next === undefined) this.running--;
    else next.enter();
  }

  private wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.queue.size >= this.waitingMax) throw busy();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.queue.delete(waiting);
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
      }, this.waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.queue.add(waiting);
    });
  }
}

function busy(): AppError {
  return new AppError(
    'search_busy',
    'too many questions like this are under way: try again in a few seconds',
  );
}
