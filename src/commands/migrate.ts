import type { Command, CommandContext } from '#src/app/command-context.ts';
import { settingFlag } from './flags.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  object: null,
  summary: 'migrate the database to this version',
  details: `Both schemas (chain and service) are migrated, each in one transaction; several at once wait for each other. A
database that a newer version has migrated is refused. With DATABASE_URL that server is used, else the embedded
one of the data folder. serve and demo do it by themselves, and index where it starts the embedded server.`,
  flags: [settingFlag('dataDir', 'DIR'), settingFlag('logLevel', 'LEVEL')],
  run: runMigrate,
};

async function runMigrate(context: CommandContext): Promise<void> {
  const [{ openServer }, { migrate }] = await Promise.all([
    import('#src/app/database.ts'),
    import('#kernel/pg/migrate.ts'),
  ]);
  const { url } = await openServer(context, 'attach');
  const { applied } = await context.lifecycle.run('migration', () => migrate(url));
  const lines = applied.length === 0 ? ['nothing to migrate'] : applied.map((name) => `migrated ${name}`);
  await context.print(`${lines.join('\n')}\n`);
}
