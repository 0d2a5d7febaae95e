import { AppError } from '#kernel/errors/app-error.ts';
import { Patience, pause } from '#kernel/retry.ts';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

export interface KeepRunningOptions {
  readonly signal: AbortSignal;
  /** Called when the server is gone, and with null when it runs again. */
  readonly onProblem: (problem: AppError | null) => void;
}

/** Each look reads one small file. Queries that fail meanwhile are retried by those who follow a chain. */
const lookEveryMs = 1000;
/** After this many further failed starts an operator is needed: the server's log says why. */
const triesMax = 4;
/** Processes of a killed server end within a second; until then its memory is in use. */
const firstPauseMs = 2000;

/**
 * Restarts the embedded server whenever it dies (out of memory, killed, crashed). Its own recovery restores what was
 * committed. Rejects with the last failure where it does not start; ends with the signal.
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
