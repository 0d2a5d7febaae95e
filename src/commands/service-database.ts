import type pg from 'pg';
import type { CommandContext, CommandFlag } from '#src/app/command-context.ts';

/**
 * How long a statement may take, in ms. Each statement reads or changes the rows of one account, so a slower statement
 * waits for something that hangs.
 */
const statementTimeoutMs = 30_000;

export const jsonFlag: CommandFlag = {
  name: 'json',
  value: null,
  description: 'print one line of JSON, for programs',
  setting: null,
  default: null,
};

/**
 * Runs work on the database of the settings. A service may run at the same time.
 *
 * @param connections number of connections that the work needs at once; two if it reads a snapshot within a transaction
 */
export async function withService(
  context: CommandContext,
  work: (pool: pg.Pool) => Promise<void>,
  connections: 1 | 2 = 1,
): Promise<void> {
  // loaded here, so that help and usage errors do not load it
  const [{ openDatabase }, { createPool }] = await Promise.all([
    import('#src/app/database/database.ts'),
    import('#kernel/pg/pool.ts'),
  ]);
  const { url } = await openDatabase(context, 'existing');
  const pool = createPool(url, {
    applicationName: 'satscribe accounts',
    max: connections,
    statementTimeoutMs,
  });
  context.lifecycle.add('accounts connection', () => pool.end());
  await context.lifecycle.run('accounts', () => work(pool));
}

/** A time in UTC, precise to the second. */
export function shownTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
