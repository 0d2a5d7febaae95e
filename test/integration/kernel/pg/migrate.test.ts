import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrate, migrationNames, migrationSchemas, pendingMigrations } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function onEmptyDatabase(use: (url: string) => Promise<void>): Promise<void> {
  const server = inject('testServer').url;
  const name = `satscribe_empty_${process.pid}`;
  const client = await connectClient(server);
  try {
    await client.query(`CREATE DATABASE ${name}`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    await use(url.href);
  } finally {
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.end();
  }
}

describe('migrate', () => {
  test('runs every migration once, however many processes start at once', async () => {
    await onEmptyDatabase(async (url) => {
      const summaries = await Promise.all(Array.from({ length: 5 }, () => migrate(url)));
      const expected: string[] = [];
      for (const schema of migrationSchemas) {
        expected.push(...(await migrationNames(schema)).map((name) => `${schema}/${name}`));
      }
      expect(summaries.flatMap(({ applied }) => applied).toSorted()).toEqual(expected.toSorted());
    });
  });

  test('knows the missing migrations before it runs, and none afterwards', async () => {
    await onEmptyDatabase(async (url) => {
      const client = await connectClient(url);
      try {
        expect(await pendingMigrations(client, url)).toContain('chain/0001_foundation');
        await migrate(url);
        expect(await pendingMigrations(client, url)).toEqual([]);
      } finally {
        await client.end();
      }
    });
  });

  test('refuses a database that a newer version has migrated, and changes nothing', async () => {
    await database.pool.query("INSERT INTO service.migrations (name, run_on) VALUES ('9999_later', now())");
    await expect(migrate(database.url)).rejects.toMatchObject({
      code: 'database_newer',
      details: { schema: 'service', unknown: ['9999_later'] },
    });
    await database.pool.query("DELETE FROM service.migrations WHERE name = '9999_later'");
    expect(await migrate(database.url)).toEqual({ applied: [] });
  });

  test('gives the reason if the server is set to read only', async () => {
    await onEmptyDatabase(async (url) => {
      const client = await connectClient(url);
      const name = new URL(url).pathname.slice(1);
      await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      await client.end();
      await expect(migrate(url)).rejects.toMatchObject({ code: 'postgres_read_only' });
    });
  });

  test('makes the chain schema again after it was dropped, and leaves the service schema alone', async () => {
    await database.pool.query("INSERT INTO service.instance (network) VALUES ('regtest')");
    await database.pool.query('DROP SCHEMA chain CASCADE');
    const { applied } = await migrate(database.url);
    expect(applied.every((name) => name.startsWith('chain/'))).toBe(true);
    const { rows } = await database.pool.query('SELECT network FROM service.instance');
    expect(rows).toEqual([{ network: 'regtest' }]);
  });
});

describe('migration files', () => {
  test('are never edited once they exist: migrations/checksums.txt has the sha256 of each', async () => {
    const found: string[] = [];
    for (const schema of migrationSchemas) {
      for (const name of await migrationNames(schema)) {
        const path = `${schema}/${name}.sql`;
        const digest = createHash('sha256')
          .update(await readFile(`migrations/${path}`))
          .digest('hex');
        found.push(`${digest}  ${path}`);
      }
    }
    // a new migration adds its line: (cd migrations && sha256sum */*.sql > checksums.txt)
    const listed = (await readFile('migrations/checksums.txt', 'utf8')).trim().split('\n');
    expect(found.toSorted()).toEqual(listed.toSorted());
  });
});
