import type pg from 'pg';
import { readFollowerReport } from '#chain/blocks/follower-status.queries.ts';
import { writeFollowerStatus } from '#indexer/follow/status-row.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import type { ConnectedNode, NodeLink } from '#src/app/sources/node.ts';

/** The interval at which the follower reports without a change. */
const sayEveryMs = 3000;

/** One row, every few seconds: a slower write means that the server is in trouble. */
const statementTimeoutMs = 5000;

/** The connection that writes the status, as the writer, while no follower does; for the life of the process. */
export function statusWriter({ lifecycle, logger }: CommandContext, { url }: Database): pg.Pool {
  const pool = createPool(url, {
    applicationName: 'satscribe status',
    max: 1,
    statementTimeoutMs,
    onError: (error) => logger.debug({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('status connection', () => pool.end());
  return pool;
}

/**
 * Waits for the node. Writes the reason why no blocks come, for the processes that answer from the same database, as
 * the follower does once it runs. Writes nothing while another process indexes.
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

/**
 * Keeps the reported end of the work, at the end of a folder or at a bad block, which has no follower any more. A crash
 * of the server empties the status table, so the reason is written again. Runs until the lifecycle ends.
 */
export async function keepEnded({ lifecycle, logger }: CommandContext, pool: pg.Pool): Promise<void> {
  let ended: FollowerStatus | null = null;
  while (!lifecycle.signal.aborted) {
    try {
      const { status } = await readFollowerReport(pool);
      // another process may have begun to index meanwhile, and reports for itself
      if (status !== null) ended = status.state === 'ended' ? status : null;
      else if (ended !== null) await writeFollowerStatus(pool, { ...ended, updatedAt: new Date() });
    } catch (error) {
      logger.debug({ err: error }, 'the status could not be written');
    }
    await lifecycle.pause(sayEveryMs).catch(() => undefined);
  }
}

async function say(pool: pg.Pool, link: NodeLink): Promise<void> {
  const problem = link.problem();
  if (problem === null) return;
  // a process that takes the lock after this check reports within seconds
  if (await isAdvisoryLockHeld(pool, 'writer')) return;
  await writeFollowerStatus(pool, {
    state: 'waiting',
    source: `node ${link.url}`,
    sourceTip: null,
    problem: { code: problem.code, message: problem.message, since: link.problemSince() },
    updatedAt: new Date(),
  });
}
