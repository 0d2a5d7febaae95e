import { AppError } from '#kernel/errors/app-error.ts';
import { Patience, pause } from '#kernel/retry.ts';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

export interface KeepRunningOptions {
  readonly signal: AbortSignal;
  /** Called when the server is gone, and with null when it runs again. */
  readonly onProblem: (problem: AppError | null) => void;
}

/** Interval of checks; each reads one small file. Failed queries are retried by the followers of a chain. */
const lookEveryMs = 1000;
/** Further failed starts after which the operator must act: the server's log has the reason. */
const triesMax = 4;
/** Processes of a killed server end within a second; until then its memory is in use. */
const firstPauseMs = 2000;

/**
 * Restarts the embedded server whenever it dies (out of memory, killed, crashed). Its own recovery restores all
 * commits. Rejects with the last failure if it does not start; ends with the signal.
 */
export async function keepRunning(
  server: EmbeddedPostgres,
  { signal, onProblem }: KeepRunningOptions,
): Promise<void> {
  const patience = new Patience({ firstPauseMs, triesMax });
  while (!signal.aborted) {
    if (await server.isRunning()) {
      await pause(lookEveryMs, signal);
      continue;
    }
    onProblem(new AppError('postgres_lost', 'The embedded Postgres has died and is being restarted.'));
    try {
      await server.restart();
      onProblem(null);
      patience.reset();
    } catch (error) {
      const pauseMs = patience.delayAfter(error);
      if (pauseMs === null || signal.aborted) throw error;
      if (error instanceof AppError) onProblem(error);
      await pause(pauseMs, signal);
    }
  }
}
