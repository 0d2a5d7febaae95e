import type pg from 'pg';
import type { CommandContext, CommandFlag } from './command.ts';

export const jsonFlag: CommandFlag = {
  name: 'json',
  value: null,
  description: 'answer with one line of JSON, for programs',
  setting: null,
  default: null,
};

type AccountStore = typeof import('#accounts/account.store.ts');

/** Runs work on the tables of accounts in the database of the settings, beside a service or without one. */
export async function withService(
  context: CommandContext,
  work: (pool: pg.Pool, store: AccountStore) => Promise<void>,
): Promise<void> {
  // loaded here, so that the help and wrong usage answer without all of it
  const [{ openDatabase }, store] = await Promise.all([
    import('#src/app/database.ts'),
    import('#accounts/account.store.ts'),
  ]);
  const { readers } = await openDatabase(context, 'existing');
  await context.lifecycle.run('accounts', () => work(readers, store));
}

/** To the second, in UTC. */
export function shownTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
