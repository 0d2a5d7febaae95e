import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { checkServer } from '#kernel/pg/check-server.ts';
import { attachEmbeddedPostgres, startEmbeddedPostgres } from '#kernel/pg/embedded/embedded-postgres.ts';
import { migrate, pendingMigrations } from '#kernel/pg/migrate.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { CommandContext } from '#src/commands/command.ts';

/** Two stops of pg_ctl, 60 s each: fast, and immediate where that was not enough. */
const postgresStopMs = 130_000;
/** A process that starts its Postgres holds the folder before the server answers; initdb takes a second or two. */
const attachAttemptsMax = 100;
const attachEveryMs = 200;
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

/** The network of what is indexed; null where nothing is. */
export async function indexedNetwork({ readers }: Database): Promise<NetworkName | null> {
  const { rows } = await readers.query<{ network: NetworkName }>(
    'SELECT network FROM chain.state WHERE tip_height IS NOT NULL',
  );
  return rows[0]?.network ?? null;
}
