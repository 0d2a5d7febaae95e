import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { hashFlag, heightFlag, ownFlag, settingFlag, tipFlag } from '#src/commands/flags.ts';

export const verifyCommand: Command = {
  name: 'verify',
  object: null,
  summary: 'read indexed blocks again from their source and compare them with the index',
  details: `Reads the blocks from the node, or from the folder of --blocks. It applies each block to the state that the
tables had before that block, and compares every field of the result with the tables. It changes nothing,
and may run beside a service. It prints the first differences, each as one line of JSON, and a verdict. If
there is a difference, the exit code is 1. A run over all blocks also finds rows that belong to no block.

  satscribe verify --from 840000 --to 840100 --cookie-file ~/.bitcoin/.cookie
  satscribe verify --blocks ./samples/regtest --data /tmp/regtest`,
  flags: [
    ownFlag('from', 'HEIGHT', 'height of the first block; unset: the lowest'),
    ownFlag('to', 'HEIGHT', 'height of the last block; unset: the tip'),
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('network', 'NAME'),
    settingFlag('blocksDir', 'DIR'),
    tipFlag,
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runVerify,
};

async function runVerify(context: CommandContext): Promise<void> {
  const from = heightFlag(context.flags, 'from');
  const to = heightFlag(context.flags, 'to');
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError(`--from ${from} is above --to ${to}`);
  }
  const tip = hashFlag(context.flags, 'tip');
  const { verifyIndexed } = await import('#src/app/indexing/verify.ts');
  await verifyIndexed(context, { from, to, tip });
}
