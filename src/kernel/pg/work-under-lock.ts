import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Logger } from '#kernel/logger.ts';
import { Repeats } from '#kernel/repeats.ts';
import { Patience, pause, type RetryPlace } from '#kernel/retry.ts';
import { type AdvisoryLock, takeAdvisoryLock } from './advisory-lock.ts';
import { connectClient } from './pool.ts';
import { postgresFailure } from './postgres-failure.ts';

export interface WorkUnderLock extends RetryPlace {
  /** Of the database. */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly lock: AdvisoryLock;
  /** What is worked on, for the log: `payments`. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** How often a standby process checks whether the active one is gone. */
const standbyMs = 1000;
/** The first and the longest pause after failures. */
const retryMinMs = 500;
const retryMaxMs = 30_000;

/**
 * Does work that one process per database does at a time, until the signal is aborted; other processes stand by. The
 * lock lives as long as the connection that the work gets. Failures are logged and retried as the table of error codes
 * says, with a new connection. Throws what is not retried.
 */
export async function workUnderLock(
  options: WorkUnderLock,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const { url, applicationName, lock, what, signal, log, isFolder, hasCookieFile } = options;
  const repeats = new Repeats();
  const patience = new Patience({
    firstPauseMs: retryMinMs,
    pauseMaxMs: retryMaxMs,
    isFolder,
    hasCookieFile,
    waitsForPeople: true,
  });
  let isStandingBy = false;
  const once = async (): Promise<void> => {
    const client = await connectClient(url, applicationName);
    try {
      await takeAdvisoryLock(client, lock);
      await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  while (!signal.aborted) {
    const startedAt = Date.now();
    try {
      await once();
    } catch (thrown) {
      if (signal.aborted) return;
      const error = postgresFailure(thrown);
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'database_busy') {
        if (!isStandingBy) log.info(`another process follows ${what}: standing by`);
        isStandingBy = true;
        await pause(standbyMs, signal);
        continue;
      }
      isStandingBy = false;
      if (Date.now() - startedAt > retryMaxMs) patience.reset();
      const waitMs = patience.delayAfter(error);
      if (waitMs === null) throw error;
      if (repeats.isDue(error.code)) {
        log.warn({ err: error, waitMs: Math.round(waitMs) }, `${what} are not followed`);
      }
      await pause(waitMs, signal);
    }
  }
}
