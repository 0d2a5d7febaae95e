import { AppError } from '#kernel/errors/app-error.ts';
import { type ErrorCode, errorCodes } from '#kernel/errors/error-codes.ts';

export interface BackoffOptions {
  /** The longest pause after the first failure; it doubles with each further one. */
  readonly firstPauseMs?: number;
  readonly pauseMaxMs?: number;
  /** From 0 to below 1. For tests. */
  readonly random?: () => number;
}

/** Doubled more often than this a pause of a millisecond would be longer than a month. */
const doublingsMax = 31;

/**
 * How long to wait after each of several failures: pauses grow exponentially, each is from half of its full length to all of
 * it at random, so that many that failed together do not come back together, and none comes back at once.
 */
export class Backoff {
  private readonly options: BackoffOptions;
  private failures = 0;

  constructor(options: BackoffOptions = {}) {
    this.options = options;
  }

  /** The pause after one failure more, in ms. */
  next(): number {
    const { firstPauseMs = 100, pauseMaxMs = 5000, random = Math.random } = this.options;
    const fullMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(this.failures, doublingsMax));
    this.failures++;
    return fullMs * (0.5 + random() / 2);
  }

  /** Something went well: the next failure is the first one. */
  reset(): void {
    this.failures = 0;
  }
}

export interface RetryOptions extends BackoffOptions {
  /** From the first attempt until the last one may begin. */
  readonly budgetMs: number;
  /** Codes that are tried again here although their table calls them final. */
  readonly also?: readonly ErrorCode[];
  /** Codes that are not tried again here although their table calls them passing. */
  readonly except?: readonly ErrorCode[];
  /** Learns of each failure that is tried again. */
  readonly onRetry?: (error: AppError, attempt: number) => void;
}

/** Tries work again while its failure may pass by itself: an AppError whose code is retryable. */
export class Retry {
  private readonly options: RetryOptions;

  constructor(options: RetryOptions) {
    this.options = options;
  }

  /** Throws what the last attempt threw, or the signal's reason. */
  async run<Result>(work: (attempt: number) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const deadline = performance.now() + this.options.budgetMs;
    const backoff = new Backoff(this.options);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await work(attempt);
      } catch (error) {
        signal?.throwIfAborted();
        if (!this.mayPass(error)) throw error;
        const pauseMs = backoff.next();
        if (performance.now() + pauseMs > deadline) throw error;
        this.options.onRetry?.(error, attempt);
        await pause(pauseMs, signal);
      }
    }
  }

  private mayPass(error: unknown): error is AppError {
    if (!(error instanceof AppError)) return false;
    const { also = [], except = [] } = this.options;
    return (errorCodes[error.code].retryable || also.includes(error.code)) && !except.includes(error.code);
  }
}

/** Waits, and ends early where the signal is aborted: whoever goes on looks at it. */
export function pause(pauseMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, pauseMs);
    signal?.addEventListener('abort', end, { once: true });
  });
}
