import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { Database } from '#src/app/database.ts';
import type { Command, CommandContext } from './command.ts';
import { hashFlag, settingFlag, tipFlag } from './flags.ts';

export const serveCommand: Command = {
  name: 'serve',
  object: null,
  summary: 'index a folder of blocks and serve the API and the pages',
  details: `Prints "ready http://ADDRESS:PORT" on stdout when everything answers, and runs until Ctrl-C or SIGTERM. Without
--blocks it serves what is indexed already. Other commands with the same --data may run beside it.

  satscribe serve --blocks ./samples/regtest --data /tmp/regtest --port 7701`,
  flags: [
    settingFlag('blocksDir', 'DIR'),
    settingFlag('port', 'N'),
    settingFlag('host', 'ADDRESS'),
    settingFlag('dataDir', 'DIR'),
    tipFlag,
    settingFlag('logLevel', 'LEVEL'),
  ],
  run: (context) => serve(context, hashFlag(context.flags, 'tip')),
};

/** Indexes the blocks folder of the settings, where there is one, and serves until the lifecycle ends. */
export async function serve(context: CommandContext, tip: string | undefined): Promise<void> {
  const { config, lifecycle } = context;
  // loaded here, so that the help and wrong usage answer without all of it
  const [{ openBlocks }, { indexedNetwork, openDatabase }, { checkPort, serveHttp }] = await Promise.all([
    import('#src/app/blocks.ts'),
    import('#src/app/database.ts'),
    import('#src/app/http.ts'),
  ]);
  await checkPort(config.host, config.port);
  const source = config.blocksDir === undefined ? null : await openBlocks(context, config.blocksDir, tip);
  const database = await openDatabase(context, 'own');
  const network = source?.network ?? (await indexedNetwork(database));
  if (network === null) {
    throw new AppError('no_blocks', 'Nothing is indexed yet, and no folder of blocks was named.');
  }
  // questions are answered while blocks come in
  const { address } = await serveHttp(context, database, network);
  if (source !== null) await indexWhileServing(context, database, source);
  await checkAnswers(address);
  await context.print(`ready ${address}\n`);
  await lifecycle.untilStopping();
}

const badBlockCodes: readonly ErrorCode[] = [
  'block_unavailable',
  'block_truncated',
  'block_oversized',
  'block_corrupt',
  'block_not_linked',
  'spent_outputs_mismatch',
];

/** What was indexed before a bad block is good and stays in service; the error is logged. */
async function indexWhileServing(
  context: CommandContext,
  database: Database,
  source: BlockSource,
): Promise<void> {
  const [{ indexBlocks }, { indexedNetwork }] = await Promise.all([
    import('#src/app/blocks.ts'),
    import('#src/app/database.ts'),
  ]);
  try {
    await indexBlocks(context, database, { source, isServing: true });
  } catch (error) {
    if (!(error instanceof AppError && badBlockCodes.includes(error.code))) throw error;
    if ((await indexedNetwork(database)) === null) throw error;
    context.logger.error({ code: error.code, err: error }, 'indexing ended before the tip of the source');
  }
}

/** One request of each kind, over the network as clients make them: `ready` must be true. */
async function checkAnswers(address: string): Promise<void> {
  for (const path of ['/health/ready', '/', '/search?text=ready&itemsperpage=1']) {
    const { status } = await fetch(new URL(path, address));
    if (status !== 200) throw new Error(`${path} answers with status ${status}`);
  }
}
