import { setTimeout as sleep } from 'node:timers/promises';
import { deleteUndecided } from '#collections/collection/insert-collection.store.ts';
import { CreatorCollections } from '#collections/creator-collections.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openAnsweringPool } from '#src/app/database/answering-pool.ts';
import type { AnsweringDatabase, Database } from '#src/app/database/database.ts';

/**
 * Maximum number of connections for creations and changes of collections. Each of these writes up to 100,000 rows, and
 * orders must not wait for it.
 */
const connectionsMax = 2;
const statementTimeoutMs = 30_000;
/** How often undecided collections are searched, in ms. Their deadline is counted in days. */
const sweepMs = 3_600_000;

/** Collections of creators in a process that answers requests. */
export function openCreatorCollections(
  { lifecycle, logger }: CommandContext,
  database: AnsweringDatabase,
): CreatorCollections {
  const log = logger.child({ part: 'collections' });
  const pool = openAnsweringPool({ lifecycle, log }, database, {
    applicationName: 'satscribe collections',
    part: 'collections connections',
    max: connectionsMax,
    statementTimeoutMs,
  });
  return new CreatorCollections(pool);
}

/**
 * Deletes collections that no operator decided about in time. Runs for the life of the process if the process advances
 * orders.
 */
export function startUndecidedSweeps(
  { config, lifecycle, logger }: CommandContext,
  { url }: Pick<Database, 'url'>,
): void {
  if (lifecycle.signal.aborted || config.walletSeedFile === undefined) return;
  const log = logger.child({ part: 'collections' });
  const sweep = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        const deleted = await sweepOnce(url);
        if (deleted > 0)
          log.info({ deleted }, 'collections were deleted, because no one decided about them in time');
      } catch (error) {
        // the next round deletes them; other parts report a database that does not answer
        log.warn({ err: error }, 'collections that no one decided about in time could not be deleted');
      }
      await sleep(sweepMs, undefined, { signal }).catch(() => undefined);
    }
  };
  lifecycle.run('undecided collections', sweep).catch(() => undefined);
}

/** Deletes undecided collections once. It opens its own connection, because it runs only once an hour. */
async function sweepOnce(url: string): Promise<number> {
  const client = await connectClient(url, 'satscribe collections');
  try {
    return await deleteUndecided(client);
  } finally {
    await client.end();
  }
}
