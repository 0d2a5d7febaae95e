import type pg from 'pg';
import { inject } from 'vitest';
import { connectClient, createPool } from '#kernel/pg/pool.ts';

export interface TestDatabase {
  /** URL of the writer's role, which owns the tables. */
  readonly url: string;
  readonly pool: pg.Pool;
  /** URL of the role that answers requests (ADR 29). */
  readonly readerUrl: string;
  /** Pool for reads as in a service. Its statements cannot write. */
  readonly readers: pg.Pool;
  /** Pool that counts the use of API keys, as in a service. */
  readonly accessPool: pg.Pool;
  /** The settings of a service that uses this database. */
  readonly settings: { readonly DATABASE_URL: string; readonly DATABASE_READER_URL: string };
  /** URL of the superuser, for work that neither of these two roles may do. */
  readonly superuserUrl: string;
  /** Closes the pools and removes the database, even with open connections. */
  drop(): Promise<void>;
}

let made = 0;

/**
 * Makes an empty, migrated database for one test file, as a clone of the global setup's template. The database has no
 * secondary indexes, which indexer/apply/secondary-indexes.ts builds.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return cloneOf(inject('testServer').template);
}

/** A database that is filled once, for many tests that start with the same rows. */
export interface FilledDatabase {
  /** Makes a new database with these rows. */
  clone(): Promise<TestDatabase>;
  drop(): Promise<void>;
}

export async function createFilledDatabase(
  fill: (database: TestDatabase) => Promise<unknown>,
): Promise<FilledDatabase> {
  const database = await createTestDatabase();
  await fill(database);
  // Postgres does not clone a database that has connections
  await database.pool.end();
  const name = new URL(database.url).pathname.slice(1);
  return { clone: () => cloneOf(name), drop: () => dropDatabase(name) };
}

/** Makes a database without any schema of ours, for tests of the state that an older version left. */
export const createEmptyDatabase = (): Promise<TestDatabase> => makeDatabase('');

// the default strategy writes each page to the log, which takes twice the time
const cloneOf = (template: string): Promise<TestDatabase> =>
  makeDatabase(`TEMPLATE ${template} STRATEGY FILE_COPY`);

async function makeDatabase(how: string): Promise<TestDatabase> {
  const { url: serverUrl, writerUrl, readerUrl } = inject('testServer');
  const name = `satscribe_test_${process.pid}_${Date.now().toString(36)}_${made++}`;
  await onServer(`CREATE DATABASE ${name} ${how} OWNER ${new URL(writerUrl).username}`);
  const urlOf = (role: string): string => {
    const url = new URL(role);
    url.pathname = `/${name}`;
    return url.href;
  };
  const applicationName = 'satscribe test';
  const pool = createPool(urlOf(writerUrl), { applicationName });
  const readers = createPool(urlOf(readerUrl), { applicationName, readOnly: true });
  const accessPool = createPool(urlOf(readerUrl), { applicationName, max: 2, isPipelined: true });
  return {
    url: urlOf(writerUrl),
    pool,
    readerUrl: urlOf(readerUrl),
    readers,
    accessPool,
    settings: { DATABASE_URL: urlOf(writerUrl), DATABASE_READER_URL: urlOf(readerUrl) },
    superuserUrl: urlOf(serverUrl),
    drop: async () => {
      await Promise.all([pool.end(), readers.end(), accessPool.end()]);
      await dropDatabase(name);
    },
  };
}

const dropDatabase = (name: string): Promise<void> =>
  onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);

/**
 * The connection of a test process that creates and drops databases. With two such connections for each database, they
 * were a quarter of all connections.
 */
let administrator: Promise<pg.Client> | null = null;

async function onServer(statement: string): Promise<void> {
  administrator ??= connectClient(inject('testServer').url).then((client) => {
    client.on('error', () => {
      administrator = null;
    });
    // a test process ends without closing the connection; the types of pg lack this method
    (client as pg.Client & { unref(): void }).unref();
    return client;
  });
  await (await administrator).query(statement);
}
