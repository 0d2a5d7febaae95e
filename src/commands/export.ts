import { exportInscriptions } from '#chain/inscriptions/export-inscriptions.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type Command, type CommandContext, type CommandFlag, UsageError } from '#src/app/command-context.ts';
import { heightFlag, settingFlag } from './flags.ts';

function boundFlag(name: string, description: string): CommandFlag {
  return { name, value: 'HEIGHT', description, setting: null, default: null };
}

export const exportCommand: Command = {
  name: 'export',
  object: 'inscriptions',
  summary: 'write the indexed inscriptions to stdout, one line of JSON each',
  details: `Lines come in the order of application; an unknown field is null (docs/schema.md). All lines are
of one moment, even while a service continues to index. Memory use does not grow with the index.

  satscribe export inscriptions --from 767430 --to 767430 --data ./data/demo`,
  flags: [
    boundFlag('from', 'height of the first block; unset: the lowest'),
    boundFlag('to', 'height of the last block; unset: the tip'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runExport,
};

async function runExport(context: CommandContext): Promise<void> {
  const from = heightFlag(context.flags, 'from');
  const to = heightFlag(context.flags, 'to');
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError(`--from ${from} is above --to ${to}`);
  }
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const { isAnythingIndexed, openDatabase } = await import('#src/app/database.ts');
  const database = await openDatabase(context, 'existing');
  if (!(await isAnythingIndexed(database))) {
    throw new AppError('nothing_indexed', 'There is nothing to export: no block is indexed.');
  }
  const { readers } = database;
  await context.lifecycle.run('export', (signal) =>
    withSnapshot(readers, async ({ client }) => {
      for await (const lines of exportInscriptions(client, range)) {
        signal.throwIfAborted();
        await context.print(lines);
      }
    }),
  );
}
