import type pg from 'pg';
import { readFollowerReport } from '#chain/blocks/follower-status.queries.ts';
import { writeFollowerStatus } from '#indexer/follow/status-row.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import type { ConnectedNode, NodeLink } from '#src/app/sources/node.ts';

/** How often the follower reports without a change, in ms. */
const sayEveryMs = 3000;

/**
 * How long a statement may take, in ms. It writes one row every few seconds, so a slower write means that the server
 * has a problem.
 */
const statementTimeoutMs = 5000;

/**
 * Opens the connection that writes the status while no follower runs. It connects as the writer, for the life of the
 * process.
 */
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
 * Waits for the node. Meanwhile it stores the reason why no blocks arrive, so that other processes on this database can
 * report the reason. Once the follower runs, the follower stores the reason. Stores nothing while another process
 * indexes.
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
 * Keeps the stored report that indexing has ended, at the end of a folder or at a bad block. No follower runs any more.
 * A crash of the database server empties the status table, so the report is then written again. Runs until the
 * lifecycle ends.
 */
export async function keepEnded({ lifecycle, logger }: CommandContext, pool: pg.Pool): Promise<void> {
  let ended: FollowerStatus | null = null;
  while (!lifecycle.signal.aborted) {
    try {
      const { status } = await readFollowerReport(pool);
      // another process may have begun to index meanwhile; its own report is then kept
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
  // a process that takes the lock after this check writes its own report within seconds
  if (await isAdvisoryLockHeld(pool, 'writer')) return;
  await writeFollowerStatus(pool, {
    state: 'waiting',
    source: `node ${link.url}`,
    sourceTip: null,
    problem: { code: problem.code, message: problem.message, since: link.problemSince() },
    updatedAt: new Date(),
  });
}
