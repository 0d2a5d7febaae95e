import { expect, inject, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { createLifecycle } from '#kernel/process/lifecycle.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { migrateServer } from '#src/app/database/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';

test('a migration that loses its connection begins again', async () => {
  const server = inject('testServer').url;
  const name = `satscribe_lost_${process.pid}`;
  const client = await connectClient(server);
  await client.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const holder = await connectClient(url.href);
  try {
    // hold the lock of migrations, so that a migration waits in its middle
    await holder.query('SELECT pg_advisory_lock(7700001)');
    const warnings: unknown[] = [];
    const logger = {
      child: () => ({ warn: (fields: unknown) => warnings.push(fields) }),
    } as unknown as Logger;
    const given = { url: url.href, readerUrl: url.href, hasReader: false, isGuest: false };
    const migrated = migrateServer({ lifecycle: createLifecycle(), logger }, given);
    migrated.catch(() => undefined);
    await waitUntil(async () => {
      const { rowCount } = await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = $1 AND application_name = 'satscribe migrate' AND wait_event_type = 'Lock'`,
        [name],
      );
      return rowCount === 1;
    });
    await holder.end();
    expect((await migrated).applied).toContain('chain/0001_foundation');
    expect(warnings).toMatchObject([{ code: 'postgres_lost' }]);
  } finally {
    await holder.end();
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.end();
  }
});
