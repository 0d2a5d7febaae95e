import type { Config } from '#config/config.ts';
import { checkServedUtxos } from '#config/utxo-settings.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { systemFailure } from '#kernel/errors/system-failure.ts';
import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import type { Additions } from '#src/app/serving/additions.ts';
import { checkTrace, hashFlag, settingFlag, tipFlag, traceFlag } from '#src/commands/flags.ts';

export const serveCommand: Command = {
  name: 'serve',
  object: null,
  summary: 'follow a bitcoind or index a folder of blocks, and serve the API and the pages',
  details: `Follows the node of --node, and serves the index even while no node answers. With --blocks it indexes that
folder instead. It prints "ready http://ADDRESS:PORT" on stdout when everything answers. A folder must be
completely indexed before that. For a node, the index must be at its tip, but the line comes after 15
seconds at the latest, and /health/ready then shows the progress. The command runs until Ctrl-C or SIGTERM.
Other commands with the same --data may run beside it (docs/install.md). Searches over HTTP need a key
(satscribe keys create), a listed domain, or SEARCH_ACCESS=open. The pages search without a key, except with
SEARCH_ACCESS=keys (docs/access.md).

  satscribe serve --cookie-file ~/.bitcoin/.cookie
  satscribe serve --blocks ./samples/regtest --data /tmp/regtest --port 7701`,
  flags: [
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('network', 'NAME'),
    settingFlag('indexAddresses', null),
    settingFlag('indexSats', null),
    settingFlag('role', 'ROLE'),
    settingFlag('blocksDir', 'DIR'),
    tipFlag,
    traceFlag,
    settingFlag('port', 'N'),
    settingFlag('host', 'ADDRESS'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL'),
    settingFlag('logFormat', 'FORM'),
  ],
  run: (context) => serve(context, hashFlag(context.flags, 'tip')),
};

/** Indexes the blocks folder of the settings, or follows their node, and serves until the lifecycle ends. */
export async function serve(
  context: CommandContext,
  tip: string | undefined,
  additions?: Additions,
): Promise<void> {
  const { blocksDir, host, port, role } = context.config;
  if (context.flags[traceFlag.name] !== undefined && role !== 'all' && role !== 'indexer') {
    throw new UsageError(
      `--${traceFlag.name} records the first sync, which only the roles all and indexer do; this process has the role ${role}`,
    );
  }
  checkTrace(context.flags);
  checkServedUtxos(context.config);
  // loaded here, so that help and usage errors do not load it
  const [
    { checkPort },
    { readOwnSatributes },
    { serveApi, serveFolder, serveNode, serveOrders, serveSearchSync },
  ] = await Promise.all([
    import('#src/app/serving/listen.ts'),
    import('#src/app/sats/satributes.ts'),
    import('#src/app/serving/serving.ts'),
  ]);
  await checkPort(host, port);
  // check this before a database is created
  await readOwnSatributes(context.config);
  const start = (): Promise<{ address: string }> => {
    if (role === 'search-sync') return serveSearchSync(context);
    if (role === 'orders') return serveOrders(context);
    if (blocksDir !== undefined) return serveFolder(context, blocksDir, tip, additions);
    return role === 'api' ? serveApi(context) : serveNode(context, additions);
  };
  const { lifecycle } = context;
  try {
    const { address } = await start();
    await checkAnswers(address, askedOf(context.config), lifecycle);
    await context.print(`ready ${address}\n`);
  } catch (error) {
    // With a folder, the command had to index first, so an interruption is an error. Without a folder the process was
    // already serving, and a stop is not an error.
    if (lifecycle.signal.aborted && blocksDir === undefined) return;
    throw error;
  }
  await lifecycle.untilStopping();
}

/** The paths that must return a response before the service reports that it is ready. */
function askedOf({ role, searchAccess, elasticsearchUrl, searchFallback }: Config): readonly string[] {
  if (role !== 'all' && role !== 'api') return ['/health/live'];
  // request our own page, because it may search without a key even if clients need one
  const search = searchAccess === 'open' ? '/search?text=ready&itemsperpage=1' : '/?text=ready';
  // Elasticsearch cannot search while its index is being built, but the service runs
  const isSearched = elasticsearchUrl === undefined || searchFallback === 'postgres';
  // if everyone needs a key, this check cannot search, because it has no key
  const maySearch = searchAccess !== 'keys';
  return ['/health/live', '/', ...(isSearched && maySearch ? [search] : [])];
}

/**
 * How long the check of a path is repeated, in ms. A database that was just lost is back within this time, or needs an
 * operator.
 */
const answersWithinMs = 60_000;
const askAgainMs = 250;

/**
 * Sends one request of each kind over the network, like a client, so that `ready` is true. If Postgres is lost at this
 * moment, the check waits for it, like the running service.
 */
async function checkAnswers(
  address: string,
  paths: readonly string[],
  lifecycle: CommandContext['lifecycle'],
): Promise<void> {
  const until = performance.now() + answersWithinMs;
  for (const path of paths) {
    for (;;) {
      const status = await statusOf(new URL(path, address));
      // 429 is fine too, because a service that is restarted often may have used up the rate of this address
      if (status === 200 || status === 429) break;
      if (status < 500 || performance.now() > until)
        throw unanswered(path, `is answered with status ${status}`);
      await lifecycle.pause(askAgainMs);
    }
  }
}

async function statusOf(url: URL): Promise<number> {
  try {
    return (await fetch(url)).status;
  } catch (error) {
    const { cause } = error as Error;
    const failure = systemFailure(cause);
    if (failure instanceof AppError) throw failure;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : (error as Error).message;
    throw unanswered(url.pathname, `is not answered at ${url.origin}: ${reason}`);
  }
}

const unanswered = (path: string, why: string): AppError =>
  new AppError(
    'start_unanswered',
    `This service does not serve its own path ${path}, because the path ${why}.`,
    { path },
  );
