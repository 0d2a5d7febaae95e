import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { heightFlag, settingFlag } from '#src/commands/flags.ts';
import { confirm } from './confirm.ts';

export const rollbackCommand: Command = {
  name: 'rollback',
  object: null,
  summary: 'take back all blocks above a height',
  details: `Takes back one block at a time, and needs only the tables for this. After an interruption all remaining
blocks are complete. First stop the service that indexes into the same database; otherwise the command fails
with database_busy. When the service starts again, it continues from the new tip. On a terminal the command
asks before it starts; elsewhere it needs --yes. An index of sats keeps what its newest blocks spent
(SATS_KEEP_BLOCKS). To take back deeper blocks, the command needs a node that has all blocks.

  satscribe rollback --to 840000
  satscribe rollback --to 840000 --yes`,
  flags: [
    {
      name: 'to',
      value: 'HEIGHT',
      description: 'last height to keep',
      setting: null,
      default: null,
    },
    {
      name: 'yes',
      value: null,
      description: 'take the blocks back without asking first',
      setting: null,
      default: null,
    },
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL'),
  ],
  run: runRollback,
};

async function runRollback(context: CommandContext): Promise<void> {
  const height = heightFlag(context.flags, 'to');
  if (height === undefined)
    throw new UsageError('missing height; name the last height to keep with --to HEIGHT');
  const { rollbackTo } = await import('#src/app/indexing/rollback.ts');
  const { input, output } = { input: process.stdin, output: process.stderr };
  const { signal } = context.lifecycle;
  const ask = (question: string): Promise<void> =>
    context.flags['yes'] === 'true' ? Promise.resolve() : confirm(question, { input, output, signal });
  const summary = await rollbackTo(context, height, ask);
  await context.print(`${JSON.stringify(summary)}\n`);
}
