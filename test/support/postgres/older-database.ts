import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { connectClient } from '#kernel/pg/pool.ts';

/** Runs the oldest `count` migrations of schema `service` in an empty database. */
export async function migrateServiceTo(url: string, count: number): Promise<void> {
  const client = await connectClient(url);
  try {
    await runner({
      dbClient: client,
      dir: fileURLToPath(new URL('../../../migrations/service', import.meta.url)),
      direction: 'up',
      schema: 'service',
      createSchema: true,
      migrationsSchema: 'service',
      createMigrationsSchema: true,
      migrationsTable: 'migrations',
      count,
      log: () => undefined,
    });
  } finally {
    await client.end();
  }
}
