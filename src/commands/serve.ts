import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import {
  checkPort,
  type Database,
  databaseNetwork,
  indexBlocks,
  openBlocks,
  openDatabase,
  serveHttp,
} from '#src/app.ts';
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
  await checkPort(config.host, config.port);
  const source = config.blocksDir === undefined ? null : await openBlocks(context, config.blocksDir, tip);
  const database = await openDatabase(context, 'own');
  const network = source?.network ?? (await indexedNetwork(database));
  // questions are answered while blocks come in
  const { address } = await serveHttp(context, database, network);
  if (source !== null) await indexBlocks(context, database, { source, isServing: true });
  await checkAnswers(address);
  await context.print(`ready ${address}\n`);
  await lifecycle.untilStopping();
}

async function indexedNetwork(database: Database): Promise<NetworkName> {
  const network = await databaseNetwork(database);
  if (network !== null) return network;
  throw new AppError('no_blocks', 'Nothing is indexed yet, and no folder of blocks was named.');
}

/** One request of each kind, over the network as clients make them: `ready` must be true. */
async function checkAnswers(address: string): Promise<void> {
  for (const path of ['/health/ready', '/', '/search?text=ready&itemsperpage=1']) {
    const { status } = await fetch(new URL(path, address));
    if (status !== 200) throw new Error(`${path} answers with status ${status}`);
  }
}
