import type pg from 'pg';
import { writeFollowerStatus } from '#indexer/follow/status-row.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import type { CommandContext } from './command-context.ts';
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

/**
 * A folder that is indexed needs nobody to follow it; that it has ended must be known all the same after a crash of the server, which
 * empties the table. Runs until the lifecycle ends.
 */
export async function keepEnded(
  { lifecycle, logger }: CommandContext,
  pool: pg.Pool,
  source: Pick<FollowerStatus, 'source' | 'sourceTip'>,
): Promise<void> {
  while (!lifecycle.signal.aborted) {
    await lifecycle.pause(sayEveryMs).catch(() => undefined);
    await insertEnded(pool, source).catch((error: unknown) =>
      logger.debug({ err: error }, 'the status could not be written'),
    );
  }
}

async function insertEnded(
  pool: pg.Pool,
  { source, sourceTip }: Pick<FollowerStatus, 'source' | 'sourceTip'>,
): Promise<void> {
  const { rowCount } = await pool.query('SELECT FROM chain.follower_status');
  if (rowCount !== 0) return;
  const status = { state: 'ended', source, sourceTip, problem: null, updatedAt: new Date() } as const;
  await writeFollowerStatus(pool, status);
}

async function say(pool: pg.Pool, link: NodeLink): Promise<void> {
  const problem = link.problem();
  if (problem === null) return;
  // whoever takes the lock behind this look says something of his own within seconds
  if (await isAdvisoryLockHeld(pool, 'writer')) return;
  await writeFollowerStatus(pool, {
    state: 'waiting',
    source: `node ${link.url}`,
    sourceTip: null,
    problem: { code: problem.code, message: problem.message, since: link.problemSince() },
    updatedAt: new Date(),
  });
}
