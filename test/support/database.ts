import type pg from 'pg';
import { inject } from 'vitest';
import { connectClient, createPool } from '#kernel/pg/pool.ts';

export interface TestDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Closes the pool and removes the database, even with open connections. */
  drop(): Promise<void>;
}

let made = 0;

/**
 * A fresh, migrated, empty database for one test file: a clone of the global setup's template. It has no secondary
 * indexes: indexer/apply/secondary-indexes.ts builds them.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return cloneOf(inject('testServer').template);
}

/** A database that is filled once, for tests that begin with the same rows. */
export interface FilledDatabase {
  /** A database of its own with these rows. */
  clone(): Promise<TestDatabase>;
  drop(): Promise<void>;
}

export async function createFilledDatabase(
  fill: (database: TestDatabase) => Promise<unknown>,
): Promise<FilledDatabase> {
  const database = await createTestDatabase();
  await fill(database);
  // Postgres clones no database that has connections
  await database.pool.end();
  const name = new URL(database.url).pathname.slice(1);
  return { clone: () => cloneOf(name), drop: () => dropDatabase(name) };
}

async function cloneOf(template: string): Promise<TestDatabase> {
  const { url: serverUrl } = inject('testServer');
  const name = `satscribe_test_${process.pid}_${Date.now().toString(36)}_${made++}`;
  // by default each page goes through the log, in twice the time
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = createPool(url.href, { applicationName: 'satscribe test' });
  return {
    url: url.href,
    pool,
    drop: async () => {
      await pool.end();
      await dropDatabase(name);
    },
  };
}

const dropDatabase = (name: string): Promise<void> =>
  onServer(inject('testServer').url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);

async function onServer(url: string, statement: string): Promise<void> {
  const client = await connectClient(url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
