import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '#kernel/errors/app-error.ts';
import { checkServer } from '#kernel/pg/check-server.ts';
import { attachEmbeddedPostgres, startEmbeddedPostgres } from '#kernel/pg/embedded/embedded-postgres.ts';
import type { CommandContext } from '#src/commands/command.ts';

/** Two stops of pg_ctl, 60 s each: fast, and immediate where that was not enough. */
const postgresStopMs = 130_000;
/** A process that starts its Postgres holds the folder before the server answers; initdb takes a second or two. */
const attachAttemptsMax = 100;
const attachEveryMs = 200;

/**
 * The URL of the database: DATABASE_URL, or the embedded Postgres of the data folder. `own`: this process must be
 * the only one of the folder. `attach`: where another process runs the folder's server, that one is used.
 */
export async function openDatabase(context: CommandContext, access: 'own' | 'attach'): Promise<string> {
  const { databaseUrl } = context.config;
  const url = databaseUrl ?? (access === 'own' ? await startOwn(context) : await attachOrStart(context));
  await checkServer(url);
  return url;
}

async function attachOrStart(context: CommandContext): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      return (await attachEmbeddedPostgres(context.config.dataDir)).url;
    } catch (error) {
      if (!isCode(error, 'postgres_not_running')) throw error;
    }
    try {
      return await startOwn(context);
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
    () => startEmbeddedPostgres({ dataDir: config.dataDir, log: (message) => log.info(message) }),
    postgresStopMs,
  );
  lifecycle.add('postgres', () => server.stop(), postgresStopMs);
  return server.url;
}

function isCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code;
}
