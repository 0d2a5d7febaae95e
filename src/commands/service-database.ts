import type pg from 'pg';
import type { CommandContext, CommandFlag } from '#src/app/command-context.ts';

export const jsonFlag: CommandFlag = {
  name: 'json',
  value: null,
  description: 'print one line of JSON, for programs',
  setting: null,
  default: null,
};

/** Runs work on the database of the settings, with or without a running service. */
export async function withService(
  context: CommandContext,
  work: (pool: pg.Pool) => Promise<void>,
): Promise<void> {
  // loaded here, so that help and usage errors do not load all of it
  const { openDatabase } = await import('#src/app/database.ts');
  const { readers } = await openDatabase(context, 'existing');
  await context.lifecycle.run('accounts', () => work(readers));
}

/** To the second, in UTC. */
export function shownTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
