import type pg from 'pg';
import { createPool } from '#kernel/pg/pool.ts';
import type { Lifecycle } from '#kernel/process/lifecycle.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import type { AnsweringDatabase } from '#src/app/database/database.ts';

interface AnsweringPool {
  /** Name of the connections in pg_stat_activity. */
  readonly applicationName: string;
  /** The part of the process that these connections belong to. */
  readonly part: string;
  /** Maximum number of connections. */
  readonly max: number;
  readonly statementTimeoutMs: number;
  readonly readOnly?: boolean;
  /** Whether statements are sent before earlier statements are answered (pool.ts). */
  readonly isPipelined?: boolean;
}

/**
 * Opens connections of the role that answers requests, for one part of the process. They are closed when the process
 * ends.
 */
export function openAnsweringPool(
  { lifecycle, log }: { readonly lifecycle: Lifecycle; readonly log: Logger },
  { readerUrl }: Pick<AnsweringDatabase, 'readerUrl'>,
  { part, ...options }: AnsweringPool,
): pg.Pool {
  const pool = createPool(readerUrl, {
    ...options,
    onError: (error) => log.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add(part, () => pool.end());
  return pool;
}
