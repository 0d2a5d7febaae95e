import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause, type RetryPlace } from '#kernel/retry.ts';
import { type AdvisoryLock, takeAdvisoryLock } from './advisory-lock.ts';
import { keepWorking } from './keep-working.ts';
import { connectClient } from './pool.ts';

export interface WorkUnderLock extends RetryPlace {
  /** URL of the database. */
  readonly url: string;
  /** Name that pg_stat_activity shows. */
  readonly applicationName: string;
  readonly lock: AdvisoryLock;
  /** Subject of the work, for the log, for example `payments`. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** How often a standby process checks whether the active process has ended, in ms. */
const standbyMs = 1000;

/**
 * Does work until the signal is aborted. For each database, only one process does this work at a time, and other
 * processes stand by. The lock ends with the connection of the work. Failures are logged, and retried with a new
 * connection according to the table of error codes. Throws failures that are not retried.
 */
export async function workUnderLock(
  options: WorkUnderLock,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const { url, applicationName, lock, what, signal, log, isFolder, hasCookieFile } = options;
  let isStandingBy = false;
  const standBy = async (): Promise<void> => {
    if (!isStandingBy) log.info(`another process follows ${what}, so this process is on standby`);
    isStandingBy = true;
    await pause(standbyMs, signal);
  };
  await keepWorking(
    { signal, log, failing: `${what} are not followed`, isFolder, hasCookieFile },
    async () => {
      const client = await connectClient(url, applicationName);
      let isOurs = false;
      try {
        isOurs = await isTaken(client, lock);
        if (isOurs) {
          isStandingBy = false;
          await work(client);
        }
      } finally {
        await client.end().catch(() => undefined);
      }
      if (!isOurs) await standBy();
    },
  );
}

/** Whether this connection now has the lock. `false` if another process has the lock. */
async function isTaken(client: pg.ClientBase, lock: AdvisoryLock): Promise<boolean> {
  try {
    await takeAdvisoryLock(client, lock);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'database_busy') return false;
    throw error;
  }
}
