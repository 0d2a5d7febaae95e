import { once } from 'node:events';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from './database.ts';

/**
 * How long to wait before a lost lock is taken again, in ms. When the connection of the lock is lost, other connections
 * of the process fail too. A rollback could begin in this time, but then it also finds no writer.
 */
const retryMs = 1000;

/**
 * Holds a shared lock for the life of this process, so that commands that undo blocks refuse to run at the same time.
 * The writer's lock is not enough for this, because it is free until the node answers, and again once a folder is
 * indexed. A lost lock is taken again. Returns after the first attempt.
 */
export async function holdServiceLock(
  { lifecycle, logger }: CommandContext,
  { url }: Database,
): Promise<void> {
  const first = Promise.withResolvers<void>();
  const log = logger.child({ part: 'database' });
  const hold = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await holdOnce(url, signal, first.resolve);
      } catch (error) {
        if (!signal.aborted) log.debug({ err: error }, 'the lock of the service could not be taken');
      }
      first.resolve();
      await lifecycle.pause(retryMs).catch(() => undefined);
    }
  };
  void lifecycle.run('lock of the service', hold);
  await first.promise;
}

/**
 * Holds the lock until the connection is lost or the signal is aborted. Returns at once if a rollback holds the lock.
 */
async function holdOnce(url: string, signal: AbortSignal, onHeld: () => void): Promise<void> {
  const client = await connectClient(url, 'satscribe service');
  try {
    const lost = once(client, 'end', { signal });
    lost.catch(() => undefined);
    const { rows } = await client.query<{ isHeld: boolean }>(
      'SELECT pg_try_advisory_lock_shared($1) AS "isHeld"',
      [advisoryLocks.service],
    );
    if (rows[0]?.isHeld !== true) return;
    onHeld();
    await lost;
  } finally {
    await client.end();
  }
}
