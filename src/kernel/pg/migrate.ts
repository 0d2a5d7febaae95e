import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { connectClient } from './pool.ts';
import { postgresFailure } from './postgres-failure.ts';

/**
 * The two schemas with migrations. `chain` can be rebuilt from blocks at any time, but `service` can only be migrated.
 */
export const migrationSchemas = ['chain', 'service'] as const;
export type MigrationSchema = (typeof migrationSchemas)[number];

const migrationsRoot = new URL('../../../migrations/', import.meta.url);
const historyTable = 'migrations';
// a number of this program, so that migrations of other programs in the same server do not block its migrations
const lockValue = 7_700_001;

export interface MigrationSummary {
  /** Names of the migrations that this call ran, for example `chain/0001_foundation`. */
  readonly applied: readonly string[];
}

export interface MigrateOptions {
  /** Maximum number of migrations of schema `service` to run. Absent: all of them. */
  readonly serviceMax?: number;
}

/**
 * Migrates both schemas of the database to this version. Concurrent callers wait for each other. Throws
 * `database_newer`, and changes nothing, if the database has a migration that this version does not know. Throws
 * `migration_failed`. Throws `postgres_lost` if the connection was lost; uncommitted work was then rolled back.
 */
export async function migrate(
  url: string,
  { serviceMax = Infinity }: MigrateOptions = {},
): Promise<MigrationSummary> {
  const client = await connectClient(url, 'satscribe migrate');
  try {
    const applied: string[] = [];
    for (const schema of migrationSchemas) await migrationsDone(client, schema, url);
    for (const schema of migrationSchemas)
      applied.push(
        ...(await migrateSchema(client, schema, url, schema === 'service' ? serviceMax : Infinity)),
      );
    return { applied };
  } catch (error) {
    throw postgresFailure(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Names of migrations of this version that the database has not run yet. Throws `database_newer`, like `migrate`. */
export async function pendingMigrations(client: pg.ClientBase, url: string): Promise<readonly string[]> {
  const pending: string[] = [];
  for (const schema of migrationSchemas) {
    const done = new Set(await migrationsDone(client, schema, url));
    const known = await migrationNames(schema);
    pending.push(...known.filter((name) => !done.has(name)).map((name) => `${schema}/${name}`));
  }
  return pending;
}

async function migrateSchema(
  client: pg.Client,
  schema: MigrationSchema,
  url: string,
  count: number,
): Promise<string[]> {
  const ran = await runner({
    dbClient: client,
    dir: directoryOf(schema),
    direction: 'up',
    count,
    schema,
    createSchema: true,
    migrationsSchema: schema,
    createMigrationsSchema: true,
    migrationsTable: historyTable,
    advisoryLockMode: 'wait',
    lockValue,
    checkOrder: true,
    log: () => undefined,
  }).catch((error: unknown) => {
    const failure = postgresFailure(error);
    // the migration itself is correct, and missing rights are reported with their purpose
    if (failure instanceof AppError && failure.code !== 'postgres_refused') throw failure;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The migration of schema ${schema} at ${shownAddress(url)} failed and was rolled back: ${reason}`;
    throw new AppError('migration_failed', message, { schema }, error);
  });
  return ran.map(({ name }) => `${schema}/${name}`);
}

/**
 * Names of migrations that the database has run, if this role may read the names. Throws `database_newer` if this
 * version has no file for a name.
 */
export async function migrationsDone(
  client: pg.ClientBase,
  schema: MigrationSchema,
  url: string,
): Promise<string[]> {
  // read the catalogs, because the schema may be new, and the reader role may not have its rights yet
  const { rowCount } = await client.query(
    `SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = $1 AND relname = $2
        AND has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT')`,
    [schema, historyTable],
  );
  if (rowCount === 0) return [];
  const known = new Set(await migrationNames(schema));
  const history = await client.query<{ name: string }>(
    `SELECT name FROM ${schema}.${historyTable} ORDER BY id`,
  );
  const names = history.rows.map(({ name }) => name);
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const message = `The database at ${shownAddress(url)} has migrations that this version does not have: ${unknown.join(', ')}`;
    throw new AppError('database_newer', message, { schema, unknown });
  }
  return names;
}

/** Names of the migrations in this version's files, in order, without the file extension. */
export async function migrationNames(schema: MigrationSchema): Promise<string[]> {
  const files = await readdir(directoryOf(schema));
  return files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .toSorted();
}

/** The SQL of a migration of this version. */
export function migrationText(schema: MigrationSchema, name: string): Promise<string> {
  return readFile(join(directoryOf(schema), `${name}.sql`), 'utf8');
}

function directoryOf(schema: MigrationSchema): string {
  return fileURLToPath(new URL(schema, migrationsRoot));
}
