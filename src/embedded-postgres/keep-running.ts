import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '#kernel/errors/app-error.ts';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

export interface KeepRunningOptions {
  readonly signal: AbortSignal;
  /** Told when the server is gone, and with null when it runs again. */
  readonly onProblem: (problem: AppError | null) => void;
}

/** Reads one small file: queries that fail meanwhile are tried again by those who follow a chain. */
const lookEveryMs = 1000;
/** A server that does not start so often in a row needs a person: its log says why. */
const startsMax = 5;
/** Processes of a killed server end within a second; until then its memory cannot be taken. */
const pauseMs = 2000;

/**
 * Starts the embedded server again whenever it has died (killed for want of memory, by hand, by a crash). Its own recovery brings back
 * what was committed. Rejects with the last failure where it does not start; ends with the signal.
 */
export async function keepRunning(
  server: EmbeddedPostgres,
  { signal, onProblem }: KeepRunningOptions,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    if (await server.isRunning()) {
      await pause(lookEveryMs, signal);
      continue;
    }
    onProblem(new AppError('postgres_lost', 'The embedded Postgres has died and is started again.'));
    try {
      await server.restart();
      onProblem(null);
      failures = 0;
    } catch (error) {
      failures++;
      if (failures >= startsMax || signal.aborted) throw error;
      if (error instanceof AppError) onProblem(error);
      await pause(pauseMs, signal);
    }
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
