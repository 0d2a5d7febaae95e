import type { Command, CommandContext } from '#src/app/command-context.ts';
import { settingFlag } from '#src/commands/flags.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  object: null,
  summary: 'migrate the database to this version',
  details: `Migrates both schemas (chain and service), each in one transaction. Concurrent runs wait for each other. The
command refuses a database that a newer version has migrated. At the end it gives the user of
DATABASE_READER_URL its rights. It uses DATABASE_URL, or else the embedded server of the data folder. serve
and demo migrate by themselves. index does so only if it starts the embedded server.`,
  flags: [settingFlag('dataDir', 'DIR'), settingFlag('logLevel', 'LEVEL')],
  run: runMigrate,
};

async function runMigrate(context: CommandContext): Promise<void> {
  const { migrateServer, openServer } = await import('#src/app/database/database.ts');
  const { applied } = await migrateServer(context, await openServer(context, 'attach'));
  const lines = applied.length === 0 ? ['nothing to migrate'] : applied.map((name) => `migrated ${name}`);
  await context.print(`${lines.join('\n')}\n`);
}
