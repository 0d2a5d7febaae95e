import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { heightFlag, settingFlag } from './flags.ts';

export const rollbackCommand: Command = {
  name: 'rollback',
  object: null,
  summary: 'take back all blocks above a height',
  details: `Works from the tables alone, one block at a time: an interruption leaves whole blocks. First end the
service that indexes into the same database (database_busy). Its next start continues from there.

  satscribe rollback --to 840000`,
  flags: [
    {
      name: 'to',
      value: 'HEIGHT',
      description: 'the last height to keep',
      setting: null,
      default: null,
    },
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL'),
  ],
  run: runRollback,
};

async function runRollback(context: CommandContext): Promise<void> {
  const height = heightFlag(context.flags, 'to');
  if (height === undefined)
    throw new UsageError('back to which height? Name the last height to keep with --to HEIGHT');
  const { rollbackTo } = await import('#src/app/rollback.ts');
  const summary = await rollbackTo(context, height);
  await context.print(`${JSON.stringify(summary)}\n`);
}
