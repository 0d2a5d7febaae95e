import type pg from 'pg';
import { writeFollowerStatus } from '#indexer/follow/status-row.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { releaseAdvisoryLock, takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import type { CommandContext } from '#src/commands/command.ts';
import type { ConnectedNode, NodeLink } from './node.ts';

/** As often as the follower says something without a change. */
const sayEveryMs = 3000;

/**
 * Waits for the node and tells those that answer questions from the same database why nothing comes, as the follower does once it
 * runs. Says nothing where another process indexes.
 */
export async function announceWaiting(
  { lifecycle, logger }: CommandContext,
  pool: pg.Pool,
  link: NodeLink,
): Promise<ConnectedNode> {
  const found = link.connected.then(
    () => true,
    () => true,
  );
  while (!lifecycle.signal.aborted) {
    if (await Promise.race([found, lifecycle.pause(sayEveryMs).then(() => false)])) break;
    await say(pool, link).catch((error: unknown) =>
      logger.debug({ err: error }, 'the status could not be written'),
    );
  }
  return link.connected;
}

async function say(pool: pg.Pool, link: NodeLink): Promise<void> {
  const problem = link.problem();
  if (problem === null) return;
  const client = await pool.connect();
  try {
    // held for one statement: whoever wants to index gets it
    await takeAdvisoryLock(client, 'writer');
    try {
      await writeFollowerStatus(client, {
        state: 'waiting',
        source: `node ${link.url}`,
        sourceTip: null,
        problem: { code: problem.code, message: problem.message, since: link.problemSince() },
        updatedAt: new Date(),
      });
    } finally {
      await releaseAdvisoryLock(client, 'writer');
    }
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'database_busy')) throw error;
  } finally {
    client.release();
  }
}
