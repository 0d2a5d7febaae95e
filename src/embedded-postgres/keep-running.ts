import { AppError } from '#kernel/errors/app-error.ts';
import { Patience, pause } from '#kernel/retry.ts';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

export interface KeepRunningOptions {
  readonly signal: AbortSignal;
  /** Called with a problem when the server is gone, and with `null` when it runs again. */
  readonly onProblem: (problem: AppError | null) => void;
}

/**
 * How often the server is checked, in ms. Each check reads one small file. The followers of a chain retry failed
 * queries themselves.
 */
const lookEveryMs = 1000;
/** Maximum number of further failed starts. Then the operator must act; the server's log has the reason. */
const triesMax = 4;
/**
 * How long to wait before the first restart, in ms. The processes of a killed server end within a second, and use its
 * memory until then.
 */
const firstPauseMs = 2000;

/**
 * Restarts the embedded server whenever it dies (out of memory, killed, crashed). Postgres' own recovery restores all
 * committed transactions. Rejects with the last failure if the server does not start. Ends when the signal is aborted.
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
