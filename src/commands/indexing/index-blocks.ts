import type { Command, CommandContext } from '#src/app/command-context.ts';
import { checkTrace, hashFlag, heightFlag, settingFlag, tipFlag, traceFlag } from '#src/commands/flags.ts';

export const indexCommand: Command = {
  name: 'index',
  object: null,
  summary: 'index from a bitcoind or a folder of blocks, without serving',
  details: `Continues where the last run ended. If the chain was reorganised, blocks are taken back first. With --until,
indexing ends at that height. Without it, a folder is indexed to its end, and a node until Ctrl-C or
SIGTERM. Progress goes to stderr, and a JSON summary to stdout. If a service is running, the command uses
the Postgres of that service.

  satscribe index --cookie-file ~/.bitcoin/.cookie --until 840000
  satscribe index --blocks ./samples/regtest --until 100 --data /tmp/regtest`,
  flags: [
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('network', 'NAME'),
    settingFlag('indexAddresses', null),
    settingFlag('indexSats', null),
    settingFlag('blocksDir', 'DIR'),
    {
      name: 'until',
      value: 'HEIGHT',
      description: 'last height to index; unset: a folder is indexed to its end, a node without end',
      setting: null,
      default: null,
    },
    tipFlag,
    traceFlag,
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL'),
    settingFlag('logFormat', 'FORM'),
  ],
  run: runIndex,
};

async function runIndex(context: CommandContext): Promise<void> {
  const until = heightFlag(context.flags, 'until');
  const tip = hashFlag(context.flags, 'tip');
  checkTrace(context.flags);
  const [{ openDatabase }, { openBlocks }] = await Promise.all([
    import('#src/app/database/database.ts'),
    import('#src/app/sources/source.ts'),
  ]);
  const { blocksDir } = context.config;
  // open the folder first, so that no database is created for a folder without blocks
  const folder = blocksDir === undefined ? null : await openBlocks(context, blocksDir, tip);
  // load the other modules meanwhile, because Postgres needs a second to start on a new data folder
  const [database, { indexBlocks }, { openSource }] = await Promise.all([
    openDatabase(context, 'attach'),
    import('#src/app/indexing/index-blocks.ts'),
    import('#src/app/sources/source.ts'),
  ]);
  const opened =
    folder === null
      ? await openSource(context, database, { tip, away: 'wait' })
      : { source: folder, node: null };
  const summary = await indexBlocks(context, database, { ...opened, until, operations: null });
  await context.print(`${JSON.stringify(summary)}\n`);
}
