import type pg from 'pg';
import { readFollowerReport } from '#chain/blocks/follower-status.queries.ts';
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
 * Work that has ended, at the end of a folder or with a bad block of it, is followed by nobody. Why it ended must be known all the same
 * after a crash of the server, which empties the table: it is written again. Runs until the lifecycle ends.
 */
export async function keepEnded({ lifecycle, logger }: CommandContext, pool: pg.Pool): Promise<void> {
  let ended: FollowerStatus | null = null;
  while (!lifecycle.signal.aborted) {
    try {
      const { status } = await readFollowerReport(pool);
      // another process may have begun to index meanwhile, and says its own
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
