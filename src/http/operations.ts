import type pg from 'pg';
import type { Health } from '#kernel/health.ts';
import type { Metrics } from '#kernel/metrics.ts';

/** What `/status`, `/health` and `/metrics` tell of the process and its surroundings. */
export interface Operations {
  readonly version: string;
  readonly role: 'all' | 'indexer' | 'api';
  readonly startedAt: Date;
  readonly health: Health;
  readonly metrics: Metrics;
  /** Connections of their own, so that health does not wait behind searches. */
  readonly pool: pg.Pool;
  /** More blocks behind, and `/health/ready` says so. */
  readonly lagMaxBlocks: number;
  /** Another process indexes, and this one waits to take over. */
  readonly standsBy: () => boolean;
}
