import type pg from 'pg';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { Health } from '#kernel/reports/health.ts';
import type { Metrics } from '#kernel/reports/metrics.ts';
import type { SearchStanding } from '#search/sync/index-lag.ts';

/** Data of the process and its surroundings, for `/status`, `/health` and `/metrics`. */
export interface Operations {
  readonly version: string;
  readonly role: 'all' | 'indexer' | 'search-sync' | 'orders' | 'api';
  readonly startedAt: Date;
  readonly health: Health;
  readonly metrics: Metrics;
  /** Separate pool, so that checks of health never wait for searches. */
  readonly pool: pg.Pool;
  /** Number of missing blocks above which `/health/ready` reports a lag. */
  readonly lagMaxBlocks: number;
  /** Whether another process indexes, and this process waits to take over. */
  readonly standsBy: () => boolean;
  /** The search server in use. Absent if only Postgres answers searches. */
  readonly searchServer?: SearchServerReport | undefined;
  /** Free and total space on the disk of the data folder. Absent if unknown. */
  readonly diskRoom?: () => Promise<DiskRoom>;
}

/** Space on a disk, in bytes. */
export interface DiskRoom {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/**
 * Whether a process of this role answers requests about the chain. Other roles answer only requests about themselves.
 */
export const answersRequests = (role: Operations['role']): boolean => role === 'all' || role === 'api';

/** The state of an index outside the database. */
export interface SearchServerReport {
  readonly engine: string;
  readonly fallback: 'postgres' | 'error';
  /** The reason why the search server currently does not answer searches. `null` if no problem is known. */
  readonly problem: () => Pick<AppError, 'code' | 'message'> | null;
  /** Asks the search server for its state, in a few seconds at most. */
  readonly standing: () => Promise<SearchStanding>;
}
