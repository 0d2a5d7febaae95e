import { AppError } from '#kernel/errors/app-error.ts';
import { type RetryClass } from '#kernel/errors/error-code-entry.ts';
import { type ErrorCode, errorCodes } from '#kernel/errors/error-codes.ts';
import { unreachable } from '#kernel/unreachable.ts';

/** The circumstances that matter for retrying a failure. */
export interface RetryPlace {
  /** True if blocks come from a folder. */
  readonly isFolder?: boolean | undefined;
  /** True if user and password of the node come from the cookie file that the node writes. */
  readonly hasCookieFile?: boolean | undefined;
}

/** The retry class of a code under these circumstances. Only this function reads the class from the table. */
export function retryClassOf(
  code: ErrorCode,
  { isFolder = false, hasCookieFile = false }: RetryPlace = {},
): RetryClass {
  const { retry, retryOnly } = errorCodes[code];
  if (retryOnly === 'node' && isFolder) return 'never';
  if (retryOnly === 'cookieFile' && !hasCookieFile) return 'never';
  return retry;
}

/**
 * How often work is retried while a person must fix something, in seconds. This costs a few requests, and work resumes
 * soon after the fix.
 */
const mendedEverySeconds = 60;
/** Time after which an overload has mostly passed, in seconds. */
const soonSeconds = 2;

/** The header Retry-After for a failure with this code, in seconds. `null` if the same request will fail again. */
export function retryAfterSeconds(code: ErrorCode): number | null {
  const retry = retryClassOf(code, { hasCookieFile: true });
  switch (retry) {
    case 'never':
      return null;
    case 'few':
    case 'minute':
      return mendedEverySeconds;
    case 'soon':
    case 'always':
    case 'replan':
      return soonSeconds;
    default:
      return unreachable(retry);
  }
}

export interface BackoffOptions {
  /** Maximum length of the first pause, in ms. The maximum doubles with each further failure, up to `pauseMaxMs`. */
  readonly firstPauseMs?: number;
  readonly pauseMaxMs?: number;
  /** Returns a number from 0 to below 1. Tests set this function. */
  readonly random?: () => number;
}

/** Maximum number of doublings. With more doublings, a pause of a millisecond would become longer than a month. */
const doublingsMax = 31;

/**
 * Pauses after consecutive failures. Pauses grow exponentially. The length of a pause is random, between half of its
 * maximum and the maximum. So jobs that failed together do not retry together, and no job retries immediately.
 */
class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The pause after one more failure, in ms. */
  next(): number {
    const { firstPauseMs = 100, pauseMaxMs = 5000, random = Math.random } = this.#options;
    const fullMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(this.#failures, doublingsMax));
    this.#failures++;
    return fullMs * (0.5 + random() / 2);
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** Number of retries for class `few`. A temporary disturbance is over before the last retry. */
const triesMaxDefault = 5;

export interface PatienceOptions extends BackoffOptions, RetryPlace {
  /** How long consecutive failures are retried without a success in between, in ms. If absent, there is no limit. */
  readonly budgetMs?: number | undefined;
  /**
   * Whether to wait for a person to fix something, as a service does that continues with its data. If absent, the
   * caller gets the error.
   */
  readonly waitsForPeople?: boolean | undefined;
  /** Number of further attempts for class `few`. */
  readonly triesMax?: number;
  /** Pause in ms in place of the usual minute, for tests. */
  readonly mendedEveryMs?: number | undefined;
}

/** Decides whether failed work is retried, and after which pause. A success resets the count of failures. */
export class Patience {
  readonly #options: PatienceOptions;
  readonly #backoff: Backoff;
  #failures = 0;
  /**
   * Number of failures of class `few`. They are counted separately, so that an outage before a wrong answer does not
   * use up the attempts.
   */
  #fewFailures = 0;
  #startedAt = 0;

  constructor(options: PatienceOptions = {}) {
    this.#options = options;
    this.#backoff = new Backoff(options);
  }

  /** Call this after a success, so that the next failure is treated as the first failure. */
  reset(): void {
    this.#failures = 0;
    this.#fewFailures = 0;
    this.#backoff.reset();
  }

  /**
   * Number of milliseconds until the next attempt. `null` if a retry cannot help, or if retries have taken too long
   * already.
   */
  delayAfter(error: unknown): number | null {
    if (!(error instanceof AppError)) return null;
    const { triesMax = triesMaxDefault } = this.#options;
    if (this.#failures === 0) this.#startedAt = performance.now();
    this.#failures++;
    const retry = retryClassOf(error.code, this.#options);
    switch (retry) {
      case 'never':
        return null;
      case 'minute':
        return this.#delayForPeople();
      case 'few':
        this.#fewFailures++;
        return this.#fewFailures > triesMax ? this.#delayForPeople() : this.#withinBudget();
      case 'soon':
      case 'replan':
        return this.#withinBudget();
      case 'always':
        return this.#backoff.next();
      default:
        return unreachable(retry);
    }
  }

  #withinBudget(): number | null {
    const { budgetMs = Number.POSITIVE_INFINITY } = this.#options;
    const pauseMs = this.#backoff.next();
    return performance.now() + pauseMs > this.#startedAt + budgetMs ? null : pauseMs;
  }

  #delayForPeople(): number | null {
    const { waitsForPeople = false, mendedEveryMs = mendedEverySeconds * 1000 } = this.#options;
    return waitsForPeople ? mendedEveryMs : null;
  }
}

export interface RetryOptions extends PatienceOptions {
  /** Called with each failure that is retried. */
  readonly onRetry?: (error: AppError, attempt: number) => void;
}

/**
 * Retries one call while its failure may pass. Failures of class `replan` are thrown, because the caller must first
 * read the current state.
 */
export class Retry {
  readonly #options: RetryOptions;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** Throws the error of the last attempt, or the signal's reason. The budget begins with the first attempt. */
  async run<Result>(work: (attempt: number) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const { budgetMs = Number.POSITIVE_INFINITY, onRetry } = this.#options;
    const deadline = performance.now() + budgetMs;
    const patience = new Patience(this.#options);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await work(attempt);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof AppError) || retryClassOf(error.code, this.#options) === 'replan') throw error;
        const pauseMs = patience.delayAfter(error);
        if (pauseMs === null || performance.now() + pauseMs > deadline) throw error;
        onRetry?.(error, attempt);
        await pause(pauseMs, signal);
      }
    }
  }
}

/** Waits. The wait ends early if the signal is aborted; the caller must check this. */
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
