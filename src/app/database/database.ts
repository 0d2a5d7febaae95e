import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { indexedNetwork, indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { type Config, hasEmbeddedDatabase } from '#config/config.ts';
import {
  attachEmbeddedPostgres,
  type RoleUrls,
  startEmbeddedPostgres,
} from '#embedded-postgres/embedded-postgres.ts';
import { keepRunning } from '#embedded-postgres/keep-running.ts';
import { existingHome } from '#embedded-postgres/server-place.ts';
import { contentConnections } from '#http/server/budgets/content-reads.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { checkServer } from '#kernel/pg/check-server.ts';
import { settleTls } from '#kernel/pg/connection/settle-tls.ts';
import { databaseError } from '#kernel/pg/database-error.ts';
import { type MigrationSummary, migrate, pendingMigrations } from '#kernel/pg/migrate.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { ensureReaderRights, excessReaderRights } from '#kernel/pg/reader-role.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { Patience, pause } from '#kernel/retry.ts';
import type { CommandContext } from '#src/app/command-context.ts';

/**
 * How long stopping Postgres may take, in ms: a fast stop by pg_ctl of up to 60 s, then an immediate stop of up to 60 s
 * if needed.
 */
const postgresStopMs = 130_000;
/**
 * Maximum number of attempts to attach to the Postgres of another process. That process holds the folder before its
 * server answers, because initdb takes a second or two.
 */
const attachAttemptsMax = 100;
const attachEveryMs = 200;
/**
 * How often a waiting process checks whether the migrations are done, in ms. Migrations of a large database take
 * minutes.
 */
const migrationLookMs = 1000;
/**
 * How long a lost server is waited for, in ms. An embedded server that died runs again within seconds, and recovers up
 * to 4 GB of WAL.
 */
const serverBackMs = 300_000;
/**
 * How long a read may take, in ms. Most reads take milliseconds, and a read that reaches this limit only slows other
 * reads.
 */
const readTimeoutMs = 30_000;

/** The parts of a database that a process needs to answer requests. */
export interface AnsweringDatabase {
  /** Connection URL of the role that answers requests (ADR 29). */
  readonly readerUrl: string;
  /** Connections for reads. Their statements have a time limit and cannot write. */
  readonly readers: pg.Pool;
  /** Connections for reads of contents, which must not delay other responses. */
  readonly contents: pg.Pool;
  /** Cancels the running statements of `readers` and `contents`. */
  cancelReaders(this: void): Promise<void>;
}

export interface Database extends AnsweringDatabase {
  /** Connection URL of the writer, which owns the tables. */
  readonly url: string;
}

/**
 * How a process may open the database of a data folder:
 * - `own`: this process must be the only process that uses the data folder.
 * - `attach`: if another process runs the server of the folder, use that server.
 * - `existing`: like `attach`, but never create a database; throw `database_missing` instead.
 */
export type DatabaseAccess = 'own' | 'attach' | 'existing';

/** The connection URLs of a server's database. */
export interface Server {
  /**
   * Connection URL of the writer. In a process that has only the URL of the reader, and therefore never writes, it is
   * the URL of the reader.
   */
  readonly url: string;
  readonly readerUrl: string;
  /** Whether the reader is a separate role. If false, only the writer's URL was given. */
  readonly hasReader: boolean;
  /** Whether another process migrates the database. */
  readonly isGuest: boolean;
}

/**
 * Opens the database of the settings: DATABASE_URL, or the embedded Postgres of the data folder. Migrates the database,
 * unless another process runs the server or several processes share the database (`existing`). Such a database must
 * already have all migrations, otherwise `database_behind` is thrown. Throws `database_reader_rights`.
 */
export async function openDatabase(context: CommandContext, access: DatabaseAccess): Promise<Database> {
  const server = await openServer(context, access);
  if (!server.isGuest) await migrateServer(context, server);
  const missing = await missingIn(server);
  if (missing !== null) throw missing;
  await checkReader(context, server);
  if (access === 'own') await warnOfRole(context, server);
  return openReaders(context, server);
}

/**
 * Migrates the database, and grants the reader its rights to the new tables. If a migration loses its server, the
 * migration begins again.
 */
export async function migrateServer(
  { lifecycle, logger }: Pick<CommandContext, 'lifecycle' | 'logger'>,
  { url, readerUrl, hasReader }: Server,
): Promise<MigrationSummary> {
  const repeats = new Repeats();
  const onLost = ({ code, message: reason }: AppError): void => {
    if (!repeats.isDue(code)) return;
    logger.child({ part: 'database' }).warn({ code, reason }, 'the migration starts again');
  };
  const summary = await lifecycle.run('migration', (signal) => migrateAgain(url, signal, onLost));
  const role = hasReader ? await ensureReaderRights(url, readerUrl) : null;
  if (role !== null) {
    logger.child({ part: 'database' }).info({ role }, 'the role that answers requests was created');
  }
  return summary;
}

/** Repeats the migration after the server was lost. If the server never answered, it is not waited for. */
async function migrateAgain(
  url: string,
  signal: AbortSignal,
  onLost: (error: AppError) => void,
): Promise<MigrationSummary> {
  const patience = new Patience({ budgetMs: serverBackMs });
  for (let wasLost = false; ; ) {
    try {
      return await migrate(url);
    } catch (error) {
      wasLost ||= isCode(error, 'postgres_lost');
      const isAway = isCode(error, 'postgres_lost') || isCode(error, 'postgres_unreachable');
      const delayMs = wasLost && isAway ? patience.delayAfter(error) : null;
      if (delayMs === null) throw error;
      onLost(error as AppError);
      await pause(delayMs, signal);
      signal.throwIfAborted();
    }
  }
}

/** Beginning of the application name of all connections that answer requests. */
export const readersName = 'satscribe readers ';

function openReaders(
  { lifecycle, logger }: CommandContext,
  { url, readerUrl }: Pick<Server, 'url' | 'readerUrl'>,
): Database {
  const log = logger.child({ part: 'database' });
  // a name that no other process has, because other processes also read from this database
  const applicationName = `${readersName}${randomBytes(6).toString('hex')}`;
  const options = {
    applicationName,
    statementTimeoutMs: readTimeoutMs,
    readOnly: true,
    onError: (error: Error) => log.warn({ err: error }, 'an idle connection was lost'),
  };
  const readers = createPool(readerUrl, options);
  const contents = createPool(readerUrl, { ...options, max: contentConnections });
  lifecycle.add('readers', async () => {
    await Promise.all([readers.end(), contents.end()]);
  });
  const cancelReaders = (): Promise<void> => cancelRunning(readerUrl, applicationName);
  return { url, readerUrl, readers, contents, cancelReaders };
}

/** Cancels the running statements with an application name. A role can see and cancel only its own statements. */
async function cancelRunning(readerUrl: string, applicationName: string): Promise<void> {
  const client = await connectClient(readerUrl);
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
 * Waits for a database that another process creates and migrates (DATABASE_URL), and opens it. Until the database is
 * ready, this process tells clients that it waits. Throws the errors of `openServer`, and `database_newer`.
 */
export async function awaitDatabase(context: CommandContext): Promise<Database> {
  const { health, lifecycle, logger } = context;
  const server = await openServer(context, 'existing');
  const missing = await missingIn(server);
  if (missing !== null) {
    const log = logger.child({ part: 'database' });
    const repeats = new Repeats();
    // load it here, because only processes that serve need a web server
    const { serveWhileWaiting } = await import('#src/app/serving/waiting.ts');
    const { release } = await serveWhileWaiting(context, async () => {
      for (let left: AppError | null = missing; left !== null; left = await missingIn(server)) {
        if (repeats.isDue(left.message)) tellWaiting(log, left);
        health.report('database', left);
        await lifecycle.pause(migrationLookMs);
      }
      health.report('database', null);
    });
    await release();
  }
  await checkReader(context, server);
  await warnOfRole(context, server);
  return openReaders(context, server);
}

function tellWaiting(log: Logger, { code, message: reason }: AppError): void {
  if (code === 'database_behind')
    log.info({ reason }, 'waiting until the process that indexes has migrated the database');
  // the process that indexes grants these rights if it knows the role; otherwise an operator must grant them
  else log.warn({ code, reason }, 'waiting until the role that answers requests gets its rights');
}

/**
 * Returns the reason why the database cannot be used yet: missing migrations or rights. `null` if it can be used.
 * Grants the reader its rights if this process can.
 */
async function missingIn({ url, readerUrl }: Server): Promise<AppError | null> {
  try {
    // grant the rights first, because the migrations are read as the reader too
    await ensureReaderRights(url === readerUrl ? null : url, readerUrl);
  } catch (error) {
    if (isCode(error, 'database_reader_rights')) return error as AppError;
    throw databaseError(error, readerUrl);
  }
  const pending = await pendingOf(readerUrl);
  return pending.length === 0 ? null : behind(pending);
}

/** Warns if the role has more rights than it needs. A bug in a query that answers requests could use these rights. */
async function warnOfRole({ config, logger }: CommandContext, server: Server): Promise<void> {
  // the embedded server always has both roles
  if (hasEmbeddedDatabase(config)) return;
  const log = logger.child({ part: 'database' });
  if (!server.hasReader) {
    log.warn(
      'DATABASE_READER_URL is not set, so the user of DATABASE_URL answers requests. This user may change and drop every table (docs/install.md, "Two roles of the database")',
    );
    return;
  }
  const { role, excess } = await excessReaderRights(server.readerUrl);
  if (excess.length === 0) return;
  log.warn(
    { role, excess },
    `the user of DATABASE_READER_URL has more rights than answers need, because it ${excess.slice(0, 5).join(', ')} (docs/install.md, "Two roles of the database")`,
  );
}

/** Opens the server for `openDatabase`, whatever the server contains. */
export async function openServer(context: CommandContext, access: DatabaseAccess): Promise<Server> {
  const { dataDir } = context.config;
  const isEmbedded = hasEmbeddedDatabase(context.config);
  if (access === 'existing' && isEmbedded && (await existingHome(dataDir)) === null) {
    const others = await databasesBelow(dataDir);
    const hint =
      others.length === 0
        ? ''
        : ` There is a database in ${others.join(', ')}. To use it, name that folder with --data.`;
    const message = `There is no database in the data folder ${dataDir}.${hint}`;
    throw new AppError('database_missing', message, { dataDir, others });
  }
  const server = !isEmbedded
    ? await givenServer(context.config, access)
    : access === 'own'
      ? { ...(await startOwn(context)), hasReader: true, isGuest: false }
      : await attachOrStart(context);
  const { isPooled } = await checkServer(server.url);
  if (isPooled) tellOfPooler(context, connectionsAs(server, context.config));
  return server;
}

/** The server at the given URLs. A process that only answers requests uses only the reader's URL, if it is given. */
export async function givenServer(
  { databaseUrl, databaseReaderUrl, role }: Config,
  access: DatabaseAccess,
): Promise<Server> {
  const given = role === 'api' ? (databaseReaderUrl ?? databaseUrl) : databaseUrl;
  assert(given !== undefined, 'the settings were checked where they were read');
  const url = await settleTls(given);
  const isSame = databaseReaderUrl === undefined || databaseReaderUrl === given;
  return {
    url,
    readerUrl: isSame ? url : await settleTls(databaseReaderUrl),
    hasReader: databaseReaderUrl !== undefined,
    isGuest: access !== 'own',
  };
}

/** Checks the reader's connection, which may go through another pooler. The role of the reader exists by now. */
async function checkReader(context: CommandContext, { url, readerUrl }: Server): Promise<void> {
  if (url === readerUrl || hasEmbeddedDatabase(context.config)) return;
  const { isPooled } = await checkServer(readerUrl);
  if (isPooled) tellOfPooler(context, readerConnections);
}

/** Maximum number of connections of one process: docs/install.md, "Sizes and bounds". */
const writerConnections = 29;
const readerConnections = 24;

/** Maximum number of connections that this process opens as the user of `url`. */
function connectionsAs({ hasReader }: Server, { role }: Config): number {
  if (role === 'api') return readerConnections;
  return hasReader ? writerConnections : writerConnections + readerConnections;
}

/**
 * Logs that a pooler is used. pgbouncer allows 20 connections for each user by default, so under load requests and
 * indexing would wait for each other.
 */
function tellOfPooler({ logger }: CommandContext, connections: number): void {
  logger
    .child({ part: 'database' })
    .info(
      { connections },
      'Postgres is reached through a pooler. The pooler must have this number of connections for this user and process (docs/install.md, "Poolers")',
    );
}

/** Finds data folders inside a folder. For example, the demo's data folder is inside the default data folder. */
async function databasesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && (await existingHome(path).catch(() => null)) !== null) found.push(path);
  }
  return found.sort();
}

async function attachOrStart(context: CommandContext): Promise<Server> {
  for (let attempt = 0; ; attempt++) {
    try {
      const urls = await attachEmbeddedPostgres(context.config.dataDir);
      return { ...urls, hasReader: true, isGuest: true };
    } catch (error) {
      if (!isCode(error, 'postgres_not_running')) throw error;
    }
    try {
      return { ...(await startOwn(context)), hasReader: true, isGuest: false };
    } catch (error) {
      // the owner of the folder is just starting or stopping the server
      if (!isCode(error, 'data_dir_busy') || attempt >= attachAttemptsMax) throw error;
    }
    await sleep(attachEveryMs, undefined, { signal: context.lifecycle.signal });
  }
}

async function startOwn({ config, health, lifecycle, logger }: CommandContext): Promise<RoleUrls> {
  const log = logger.child({ part: 'postgres' });
  const server = await lifecycle.run(
    'start of Postgres',
    async () => {
      const started = await startEmbeddedPostgres({
        dataDir: config.dataDir,
        log: (message) => log.warn(message),
      });
      // add it inside this function, so that a stop during the start also stops Postgres
      lifecycle.add('postgres', () => started.stop(), postgresStopMs);
      return started;
    },
    postgresStopMs,
  );
  const onProblem = (problem: AppError | null): void => {
    // the reason contains lines of the server's log, which only operators may see
    const shown =
      problem && new AppError(problem.code, 'The embedded Postgres does not run. The log has the reason.');
    health.report('postgres', shown);
    if (problem === null) log.warn('the embedded Postgres runs again');
    else log.error({ code: problem.code }, problem.message);
  };
  lifecycle
    .run('watch over Postgres', (signal) => keepRunning(server, { signal, onProblem }), postgresStopMs)
    // without its database the process is useless, so it ends and its supervisor restarts it
    .catch((error: unknown) => lifecycle.fail(error));
  const { url, readerUrl } = server;
  return { url, readerUrl };
}

/**
 * Returns the names of missing migrations. Throws `postgres_unreachable` if the server stops meanwhile; the supervisor
 * of this process then tries again.
 */
async function pendingOf(url: string): Promise<readonly string[]> {
  const client = await connectClient(url);
  try {
    return await pendingMigrations(client, url);
  } catch (error) {
    throw databaseError(error, url);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function behind(pending: readonly string[]): AppError {
  const message = `The database lacks migrations that this version needs: ${pending.join(', ')}.`;
  return new AppError('database_behind', message, { pending });
}

function isCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code;
}

/** Reads the network of a database. Returns `null` if it is not set yet. */
export function networkOf({ readers }: AnsweringDatabase): Promise<NetworkName | null> {
  return indexedNetwork(readers);
}

/** Reads the height of the last indexed block. Returns `null` if no block is indexed. */
export function tipOf({ readers }: AnsweringDatabase): Promise<Height | null> {
  return indexedTip(readers);
}

export async function isAnythingIndexed(database: AnsweringDatabase): Promise<boolean> {
  return (await tipOf(database)) !== null;
}
