import { type Command, type CommandContext, UsageError } from './command.ts';
import { hashFlag, heightFlag, settingFlag, tipFlag } from './flags.ts';

export const indexCommand: Command = {
  name: 'index',
  object: null,
  summary: 'index a folder of blocks and end',
  details: `Goes on where the last run ended; what is indexed already is left alone. A chain that went another way is gone back
on first. Progress goes to stderr. Beside a running service it uses that one's Postgres.

  satscribe index --blocks ./samples/regtest --until 100 --data /tmp/regtest`,
  flags: [
    settingFlag('blocksDir', 'DIR'),
    {
      name: 'until',
      value: 'HEIGHT',
      description: 'the last height to index; left out: all',
      setting: null,
      default: null,
    },
    tipFlag,
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL'),
  ],
  run: runIndex,
};

async function runIndex(context: CommandContext): Promise<void> {
  const { blocksDir } = context.config;
  if (blocksDir === undefined) {
    throw new UsageError('which blocks? Name the folder with --blocks DIR or BLOCKS_DIR');
  }
  const until = heightFlag(context.flags, 'until');
  const tip = hashFlag(context.flags, 'tip');
  const [{ indexBlocks, openBlocks }, { openDatabase }] = await Promise.all([
    import('#src/app/blocks.ts'),
    import('#src/app/database.ts'),
  ]);
  const source = await openBlocks(context, blocksDir, tip);
  const database = await openDatabase(context, 'attach');
  const summary = await indexBlocks(context, database, { source, until, operations: null });
  await context.print(`${JSON.stringify(summary)}\n`);
}
