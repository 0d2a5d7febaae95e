import { AppError } from '#kernel/errors/app-error.ts';
import { levelOfFailure } from '#kernel/errors/node-away.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { Patience, pause, type RetryPlace } from '#kernel/retry.ts';
import { postgresFailure } from './postgres-failure.ts';

export interface KeepWorking extends RetryPlace {
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Effect of a failure, for the log, for example `webhooks are not sent`. */
  readonly failing: string;
  /** Called with each failure, even if the failure is then thrown. */
  readonly onProblem?: ((problem: AppError) => void) | undefined;
}

/** Length of the first pause after a failure, in ms. `retryMaxMs` is the longest pause. */
const retryMinMs = 500;
const retryMaxMs = 30_000;

/**
 * Repeats work on the database until the signal is aborted. Failures are logged, and retried according to the table of
 * error codes. After some time without a failure, the next failure is treated as the first failure. Throws failures
 * that are not retried.
 */
export async function keepWorking(
  { signal, log, failing, onProblem, isFolder, hasCookieFile }: KeepWorking,
  work: () => Promise<void>,
): Promise<void> {
  const repeats = new Repeats();
  const patience = new Patience({
    firstPauseMs: retryMinMs,
    pauseMaxMs: retryMaxMs,
    isFolder,
    hasCookieFile,
    waitsForPeople: true,
  });
  while (!signal.aborted) {
    const startedAt = Date.now();
    try {
      await work();
    } catch (thrown) {
      if (signal.aborted) return;
      const error = postgresFailure(thrown);
      if (!(error instanceof AppError)) throw error;
      if (Date.now() - startedAt > retryMaxMs) patience.reset();
      const waitMs = patience.delayAfter(error);
      onProblem?.(error);
      if (waitMs === null) throw error;
      if (repeats.isDue(error.code))
        log[levelOfFailure(error)]({ err: error, waitMs: Math.round(waitMs) }, failing);
      await pause(waitMs, signal);
    }
  }
}
