import type pg from 'pg';
import { inject } from 'vitest';
import { connectClient, createPool } from '#kernel/pg/pool.ts';

export interface TestDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Closes the pool and removes the database, whoever is still connected. */
  drop(): Promise<void>;
}

let made = 0;

/**
 * A fresh, migrated, empty database of its own for a test file: a clone of the template that the global setup made.
 * The secondary indexes are not in it: indexer/apply/secondary-indexes.ts builds them.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url: serverUrl, template } = inject('testServer');
  const name = `satscribe_test_${process.pid}_${Date.now().toString(36)}_${made++}`;
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = createPool(url.href, { applicationName: 'satscribe test' });
  return {
    url: url.href,
    pool,
    drop: async () => {
      await pool.end();
      await onServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = await connectClient(url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
