import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { attachEmbeddedPostgres, startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { keepRunning } from '#embedded-postgres/keep-running.ts';
import { existingHome } from '#embedded-postgres/server-place.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { checkServer } from '#kernel/pg/check-server.ts';
import { migrate, pendingMigrations } from '#kernel/pg/migrate.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { CommandContext } from './command-context.ts';

/** Two stops of pg_ctl, 60 s each: fast, then immediate if needed. */
const postgresStopMs = 130_000;
/** A process that starts its Postgres holds the folder before the server answers; initdb takes a second or two. */
const attachAttemptsMax = 100;
const attachEveryMs = 200;
/** Migrations of a large database take minutes. */
const migrationLookMs = 1000;
/** A read takes milliseconds; one that takes this long only slows the others. */
const readTimeoutMs = 30_000;

export interface Database {
  readonly url: string;
  /** For reads: their statements have a time limit. */
  readonly readers: pg.Pool;
  /** Cancels the running statements of the readers. */
  cancelReaders(this: void): Promise<void>;
}

/**
 * `own`: this process must be the only one on the data folder. `attach`: where another process runs the folder's
 * server, use that one. `existing`: like `attach`, but never create a database (`database_missing`).
 */
export type DatabaseAccess = 'own' | 'attach' | 'existing';

/**
 * The database of the settings: DATABASE_URL, or the embedded Postgres of the data folder. It is migrated, except one
 * that another process runs or that several processes share (`existing`): if that lacks migrations, `database_behind`
 * is thrown.
 */
export async function openDatabase(context: CommandContext, access: DatabaseAccess): Promise<Database> {
  const { url, isGuest } = await openServer(context, access);
  if (isGuest) await refuseBehind(url);
  else await context.lifecycle.run('migration', () => migrate(url));
  return openReaders(context, url);
}

function openReaders({ lifecycle, logger }: CommandContext, url: string): Database {
  const log = logger.child({ part: 'database' });
  // a name unique to this process: other processes run reads of their own on the same database
  const applicationName = `satscribe readers ${randomBytes(6).toString('hex')}`;
  const readers = createPool(url, {
    applicationName,
    statementTimeoutMs: readTimeoutMs,
    onError: (error) => log.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('readers', () => readers.end());
  return { url, readers, cancelReaders: () => cancelRunning(url, applicationName) };
}

async function cancelRunning(url: string, applicationName: string): Promise<void> {
  const client = await connectClient(url);
  try {
    await client.query(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND state = 'active'",
      [applicationName],
    );
  } finally {
    await client.end();
  }
}

/**
 * A database that another process creates and migrates (DATABASE_URL), once it is ready; until then this process
 * answers that it waits. Throws like `openServer`, and `database_newer`.
 */
export async function awaitDatabase(context: CommandContext): Promise<Database> {
  const { health, lifecycle, logger } = context;
  const { url } = await openServer(context, 'existing');
  const pending = await pendingOf(url);
  if (pending.length > 0) {
    logger.info({ pending }, 'waiting for the process that indexes to migrate the database');
    // only processes that serve need a web server
    const { serveWhileWaiting } = await import('./waiting.ts');
    const { release } = await serveWhileWaiting(context, async () => {
      for (let left = pending; left.length > 0; left = await pendingOf(url)) {
        health.report('database', behind(left));
        await lifecycle.pause(migrationLookMs);
      }
      health.report('database', null);
    });
    await release();
  }
  return openReaders(context, url);
}

/** The server for `openDatabase`, whatever it contains. */
export async function openServer(
  context: CommandContext,
  access: DatabaseAccess,
): Promise<{ url: string; isGuest: boolean }> {
  const { databaseUrl, dataDir } = context.config;
  if (access === 'existing' && databaseUrl === undefined && (await existingHome(dataDir)) === null) {
    const others = await databasesBelow(dataDir);
    const hint = others.length === 0 ? '' : ` There is one in ${others.join(', ')}: name it with --data.`;
    const message = `There is no database in the data folder ${dataDir}.${hint}`;
    throw new AppError('database_missing', message, { dataDir, others });
  }
  const server =
    databaseUrl !== undefined
      ? { url: databaseUrl, isGuest: access !== 'own' }
      : access === 'own'
        ? { url: await startOwn(context), isGuest: false }
        : await attachOrStart(context);
  await checkServer(server.url);
  return server;
}

/** Data folders inside a folder, as the demo's is inside the default one. */
async function databasesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && (await existingHome(path).catch(() => null)) !== null) found.push(path);
  }
  return found.sort();
}

async function attachOrStart(context: CommandContext): Promise<{ url: string; isGuest: boolean }> {
  for (let attempt = 0; ; attempt++) {
    try {
      return { url: (await attachEmbeddedPostgres(context.config.dataDir)).url, isGuest: true };
    } catch (error) {
      if (!isCode(error, 'postgres_not_running')) throw error;
    }
    try {
      return { url: await startOwn(context), isGuest: false };
    } catch (error) {
      // its owner is starting or stopping it
      if (!isCode(error, 'data_dir_busy') || attempt >= attachAttemptsMax) throw error;
    }
    await sleep(attachEveryMs, undefined, { signal: context.lifecycle.signal });
  }
}

async function startOwn({ config, health, lifecycle, logger }: CommandContext): Promise<string> {
  const log = logger.child({ part: 'postgres' });
  const server = await lifecycle.run(
    'start of Postgres',
    async () => {
      const started = await startEmbeddedPostgres({
        dataDir: config.dataDir,
        log: (message) => log.warn(message),
      });
      // added inside the work, so that a stop during the start finds it
      lifecycle.add('postgres', () => started.stop(), postgresStopMs);
      return started;
    },
    postgresStopMs,
  );
  const onProblem = (problem: AppError | null): void => {
    health.report('postgres', problem);
    if (problem === null) log.warn('the embedded Postgres runs again');
    else log.error({ code: problem.code }, problem.message);
  };
  lifecycle
    .run('watch over Postgres', (signal) => keepRunning(server, { signal, onProblem }), postgresStopMs)
    // without its database the process is useless: its supervisor restarts it
    .catch((error: unknown) => lifecycle.fail(error));
  return server.url;
}

async function refuseBehind(url: string): Promise<void> {
  const pending = await pendingOf(url);
  if (pending.length > 0) throw behind(pending);
}

async function pendingOf(url: string): Promise<readonly string[]> {
  const client = await connectClient(url);
  try {
    return await pendingMigrations(client, url);
  } finally {
    await client.end();
  }
}

function behind(pending: readonly string[]): AppError {
  const message = `The database lacks migrations of this version: ${pending.join(', ')}.`;
  return new AppError('database_behind', message, { pending });
}

function isCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code;
}

/** The network of a database; null where none was set yet. */
export async function networkOf({ readers }: Database): Promise<NetworkName | null> {
  const { rows } = await readers.query<{ network: NetworkName }>('SELECT network FROM chain.state');
  return rows[0]?.network ?? null;
}

export async function isAnythingIndexed({ readers }: Database): Promise<boolean> {
  const { rowCount } = await readers.query('SELECT FROM chain.state WHERE tip_height IS NOT NULL');
  return rowCount === 1;
}
