import type pg from 'pg';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions, IndexSummary } from '#indexer/follow/follow-options.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { SimulatedNode } from './simulated-node.ts';

/** A follower in this process, and its reports. */
export interface RunningFollower {
  readonly end: Promise<IndexSummary>;
  readonly statuses: FollowerStatus[];
  stop(): Promise<IndexSummary>;
  /** Settles when the follower has reached this tip and is idle. Throws the follower's error if it ends earlier. */
  until(hash: string | undefined): Promise<void>;
}

/** Starts a follower that polls often. It has one worker, which is enough for small blocks. */
export function startFollower(
  source: SimulatedNode,
  pool: pg.Pool,
  options: Partial<FollowOptions> = {},
): RunningFollower {
  const controller = new AbortController();
  const statuses: FollowerStatus[] = [];
  const end = follow({
    source,
    pool,
    signal: controller.signal,
    threads: parseThreads(),
    onStatus: (status) => statuses.push(status),
    ...options,
    bounds: { pollMs: 50, ...options.bounds },
  });
  let failure: { error: unknown } | null = null;
  end.catch((error: unknown) => {
    failure = { error };
  });
  return {
    end,
    statuses,
    stop: () => {
      controller.abort();
      return end;
    },
    until: async (hash) => {
      await waitUntil(async () => {
        if (failure !== null) return true;
        const { rows } = await pool.query<{ tip_hash: Buffer | null }>('SELECT tip_hash FROM chain.state');
        return (rows[0]?.tip_hash == null ? undefined : displayHash(rows[0].tip_hash)) === hash;
      });
      if (failure !== null) throw failure.error;
    },
  };
}
