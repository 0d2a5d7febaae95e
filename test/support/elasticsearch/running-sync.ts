import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { readMarker } from '#search/elastic/server/marker.ts';
import { runSearchSync, type SearchSyncOptions } from '#search/sync/search-sync.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { SyncedIndex } from './synced-index.ts';

export interface RunningSync {
  /** Codes of failures so far. `none` means that work continued. */
  readonly problems: string[];
  readonly standby: () => number;
  stop(): Promise<void>;
}

/** Runs the sync of an index as a process does, but in small steps. */
export function startSync(
  given: Partial<SearchSyncOptions> & Pick<SearchSyncOptions, 'databaseUrl' | 'elastic' | 'prefix'>,
): RunningSync {
  const ending = new AbortController();
  const problems: string[] = [];
  let standby = 0;
  const running = runSearchSync(
    {
      network: 'regtest',
      shards: 1,
      replicas: 0,
      keysMax: 50,
      loadKeysMax: 50,
      news: {
        mark: () => 0,
        news: (_, __, signal) => delay(30, undefined, { signal }).catch(() => undefined),
      },
      onProblem: (problem) => problems.push(problem?.code ?? 'none'),
      onStandby: () => standby++,
      ...given,
    },
    ending.signal,
  );
  return {
    problems,
    standby: () => standby,
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

/** Waits until the marker says that the index is at the chain's tip. */
export async function caughtUp(
  pool: pg.Pool,
  { elastic, alias }: SyncedIndex,
  limitMs?: number,
): Promise<void> {
  const { rows: last } = await pool.query<{ sequence: number }>(
    'SELECT max(sequence) AS sequence FROM chain.outbox',
  );
  await waitUntil(
    async () => {
      const placed = await readMarker(elastic, alias);
      return placed?.marker.state === 'complete' && placed.marker.sequence === last[0]!.sequence;
    },
    limitMs === undefined ? {} : { limitMs },
  );
}
