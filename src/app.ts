import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { buildApp } from '#http/app.ts';
import type { App } from '#http/app-dependencies.ts';
import { type IndexSummary, indexChain } from '#indexer/follow/index-chain.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { checkServer } from '#kernel/pg/check-server.ts';
import { attachEmbeddedPostgres, startEmbeddedPostgres } from '#kernel/pg/embedded/embedded-postgres.ts';
import { migrate, pendingMigrations } from '#kernel/pg/migrate.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { forgetAbove } from '#search/forget.ts';
import { createPostgresEngine } from '#search/postgres-engine.ts';
import { createSealer } from '#search/seal.ts';
import { createSearchService } from '#search/search-service.ts';
import type { CommandContext } from '#src/commands/command.ts';
import { createProgress } from '#src/commands/progress.ts';

/** Two stops of pg_ctl, 60 s each: fast, and immediate where that was not enough. */
const postgresStopMs = 130_000;
/** A process that starts its Postgres holds the folder before the server answers; initdb takes a second or two. */
const attachAttemptsMax = 100;
const attachEveryMs = 200;
/** The transaction of a batch, or the build of an index that cannot be given up half way. */
const indexingStopMs = 60_000;
/** A question takes milliseconds; one that takes so long only harms the others. */
const readTimeoutMs = 30_000;

export interface Database {
  readonly url: string;
  /** For questions: statements have a time limit. */
  readonly readers: pg.Pool;
}

/**
 * The database of the settings, migrated: DATABASE_URL, or the embedded Postgres of the data folder. `own`: this process must be
 * the only one of the folder. `attach`: where another process runs the folder's server, that one is used, and
 * `database_behind` is thrown where it lacks migrations.
 */
export async function openDatabase(context: CommandContext, access: 'own' | 'attach'): Promise<Database> {
  const { url, isGuest } = await openServer(context, access);
  if (isGuest) await refuseBehind(url);
  else await context.lifecycle.run('migration', () => migrate(url));
  const log = context.logger.child({ part: 'database' });
  const readers = createPool(url, {
    applicationName: 'satscribe readers',
    statementTimeoutMs: readTimeoutMs,
    onError: (error) => log.warn({ err: error }, 'an idle connection was lost'),
  });
  context.lifecycle.add('readers', () => readers.end());
  return { url, readers };
}

/** The server of `openDatabase`, whatever is in it. */
export async function openServer(
  context: CommandContext,
  access: 'own' | 'attach',
): Promise<{ url: string; isGuest: boolean }> {
  const { databaseUrl } = context.config;
  const server =
    databaseUrl !== undefined
      ? { url: databaseUrl, isGuest: access === 'attach' }
      : access === 'own'
        ? { url: await startOwn(context), isGuest: false }
        : await attachOrStart(context);
  await checkServer(server.url);
  return server;
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
      // its owner is just starting or ending it
      if (!isCode(error, 'data_dir_busy') || attempt >= attachAttemptsMax) throw error;
    }
    await sleep(attachEveryMs, undefined, { signal: context.lifecycle.signal });
  }
}

async function startOwn({ config, lifecycle, logger }: CommandContext): Promise<string> {
  const log = logger.child({ part: 'postgres' });
  const server = await lifecycle.run(
    'start of Postgres',
    async () => {
      const started = await startEmbeddedPostgres({
        dataDir: config.dataDir,
        log: (message) => log.warn(message),
      });
      // within the work, so that an end that begins meanwhile finds it to stop
      lifecycle.add('postgres', () => started.stop(), postgresStopMs);
      return started;
    },
    postgresStopMs,
  );
  return server.url;
}

async function refuseBehind(url: string): Promise<void> {
  const client = await connectClient(url);
  try {
    const pending = await pendingMigrations(client, url);
    if (pending.length === 0) return;
    const message = `The database lacks migrations of this version: ${pending.join(', ')}.`;
    throw new AppError('database_behind', message, { pending });
  } finally {
    await client.end();
  }
}

function isCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code;
}

/** Opens a folder of blocks for the life of the process. */
export async function openBlocks(
  { lifecycle }: CommandContext,
  dir: string,
  tip: string | undefined,
): Promise<BlockSource> {
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  lifecycle.add('block source', () => source.close());
  return source;
}

/** The network of what is indexed; null where nothing is. */
export async function indexedNetwork({ readers }: Database): Promise<NetworkName | null> {
  const { rows } = await readers.query<{ network: NetworkName }>(
    'SELECT network FROM chain.state WHERE tip_height IS NOT NULL',
  );
  return rows[0]?.network ?? null;
}

export interface IndexBlocksOptions {
  readonly source: BlockSource;
  /** The last height; absent: the source's tip. */
  readonly until?: number | undefined;
  /** Searches are answered meanwhile: what comes in is sealed in the background too. */
  readonly isServing: boolean;
}

/** Brings the database to the source's tip, or to `until`, with progress on stderr, and seals what was added for searches. */
export async function indexBlocks(
  { config, lifecycle, logger }: CommandContext,
  database: Database,
  { source, until, isServing }: IndexBlocksOptions,
): Promise<IndexSummary> {
  const pool = createPool(database.url, {
    applicationName: 'satscribe indexer',
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('indexer connections', () => pool.end());
  const progress = createProgress(process.stderr, () => performance.now());
  const sealerLog = logger.child({ part: 'sealer' });
  const sealer = createSealer({
    pool,
    onError: (error) => sealerLog.error({ err: error }, 'sealing failed'),
  });
  lifecycle.add('sealer', () => sealer.close());
  if (isServing) {
    lifecycle
      .run('sealing', (signal) => sealer.run(signal))
      .catch((error: unknown) => sealerLog.error({ err: error }, 'sealing ended'));
  }
  return lifecycle.run(
    'indexing',
    async (signal) => {
      const summary = await indexChain({
        source,
        pool,
        signal,
        ...(until === undefined ? {} : { until }),
        onProgress: (state) => progress.update(state),
        undoHooks: [forgetAbove],
        textMaxBytes: config.searchTextMaxBytes,
      }).finally(() => progress.finish());
      signal.throwIfAborted();
      await sealer.sealPending(signal);
      signal.throwIfAborted();
      return summary;
    },
    indexingStopMs,
  );
}

/** Serves the API and the pages of a database until the lifecycle ends. Gives the address that a browser on this machine can open. */
export async function serveHttp(
  { config, lifecycle, logger }: CommandContext,
  { readers }: Database,
  network: NetworkName,
): Promise<{ address: string }> {
  const engine = createPostgresEngine();
  lifecycle.add('search engine', () => engine.close());
  const app = buildApp({
    pool: readers,
    search: createSearchService({ pool: readers, engine }),
    network: networks[network],
    logger: logger.child({ part: 'http' }),
  });
  lifecycle.add('http', () => app.close());
  const port = await listen(app, config.host, config.port);
  return { address: `http://${addressOf(config.host)}:${port}` };
}

/** Throws where nobody could listen there, before a long work that would be in vain. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

async function listen(app: App, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error, host, port);
  }
  const address = app.server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

function listenError(error: unknown, host: string, port: number): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new AppError('port_in_use', `Port ${port} of ${host} is in use.`, { host, port }, error);
  }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error;
  const message = `It is not possible to listen on port ${port} of ${host}: ${(error as Error).message}`;
  return new AppError('address_unusable', message, { host, port }, error);
}

/** All addresses (0.0.0.0, ::) are no address to open: the loopback one is among them. */
function addressOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
