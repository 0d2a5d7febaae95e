import type pg from 'pg';
import type { Operations } from '#http/server/operations.ts';
import { createHealth } from '#kernel/reports/health.ts';
import { createMetrics } from '#kernel/reports/metrics.ts';

/** The facts about the process that the HTTP side needs, for an app on a test's database. */
export function testOperations(pool: pg.Pool, given: Partial<Operations> = {}): Operations {
  return {
    version: '0.0.0-test',
    role: 'all',
    startedAt: new Date(),
    health: createHealth(),
    metrics: createMetrics((name, error) => {
      throw new Error(`${name} could not be read`, { cause: error });
    }),
    pool,
    lagMaxBlocks: 3,
    standsBy: () => false,
    ...given,
  };
}
