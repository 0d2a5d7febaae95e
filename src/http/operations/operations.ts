import type pg from 'pg';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { Health } from '#kernel/health.ts';
import type { Metrics } from '#kernel/metrics.ts';
import type { SearchStanding } from '#search/sync/index-lag.ts';

/** What `/status`, `/health` and `/metrics` tell of the process and its surroundings. */
export interface Operations {
  readonly version: string;
  readonly role: 'all' | 'indexer' | 'search-sync' | 'api';
  readonly startedAt: Date;
  readonly health: Health;
  readonly metrics: Metrics;
  /** Connections of their own, so that health does not wait behind searches. */
  readonly pool: pg.Pool;
  /** More blocks behind, and `/health/ready` says so. */
  readonly lagMaxBlocks: number;
  /** Another process indexes, and this one waits to take over. */
  readonly standsBy: () => boolean;
  /** Of the search server that answers; absent: Postgres answers searches alone. */
  readonly searchServer?: SearchServerReport | undefined;
}

/** How an index outside of the database stands. */
export interface SearchServerReport {
  readonly engine: string;
  readonly fallback: 'postgres' | 'error';
  /** Why searches are not answered by it now; null: they are, as far as anybody has asked. */
  readonly problem: () => Pick<AppError, 'code' | 'message'> | null;
  /** Asks it; takes some seconds at most. */
  readonly standing: () => Promise<SearchStanding>;
}
