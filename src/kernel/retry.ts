import { AppError } from '#kernel/errors/app-error.ts';
import { type ErrorCode, errorCodes } from '#kernel/errors/error-codes.ts';

export interface RetryOptions {
  /** From the first attempt until the last one may begin. */
  readonly budgetMs: number;
  /** The longest pause after the first failure; it doubles with each further one. */
  readonly firstPauseMs?: number;
  readonly pauseMaxMs?: number;
  /** Codes that are tried again here although their table calls them final. */
  readonly also?: readonly ErrorCode[];
  /** Codes that are not tried again here although their table calls them passing. */
  readonly except?: readonly ErrorCode[];
  /** Learns of each failure that is tried again. */
  readonly onRetry?: (error: AppError, attempt: number) => void;
  /** From 0 to below 1. For tests. */
  readonly random?: () => number;
}

/**
 * Tries work again while its failure may pass by itself: an AppError whose code is retryable. Pauses grow exponentially,
 * each a random part of its full length, so that many that failed together do not come back together.
 */
export class Retry {
  private readonly options: RetryOptions;

  constructor(options: RetryOptions) {
    this.options = options;
  }

  /** Throws what the last attempt threw, or the signal's reason. */
  async run<Result>(work: (attempt: number) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const { budgetMs, firstPauseMs = 100, pauseMaxMs = 5000, random = Math.random } = this.options;
    const deadline = performance.now() + budgetMs;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await work(attempt);
      } catch (error) {
        signal?.throwIfAborted();
        if (!this.mayPass(error)) throw error;
        const pauseMs = random() * Math.min(pauseMaxMs, firstPauseMs * 2 ** (attempt - 1));
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

/** Ends early where the signal is aborted: the next attempt sees it. */
function pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
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
