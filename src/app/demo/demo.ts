import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { processEnvironment } from '#config/config.ts';
import { refuseOwned } from '#embedded-postgres/data-dir-lock.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { networks } from '#kernel/primitives/network.ts';
import { isRevealAwaited } from '#orders/etching/etchings.store.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import { testPaymentsSecret } from '#src/app/ordering/token-payments.ts';
import type { Additions } from '#src/app/serving/additions.ts';
import { openBlocks } from '#src/app/sources/source.ts';
import { TestKey } from '#wallet/test-key.ts';
import { DemoCoins } from './demo-coins.ts';
import { fillDemo } from './demo-contents.ts';
import { mineWhatWaits } from './demo-mining.ts';
import { type DemoNode, startDemoNode } from './demo-node.ts';
import { fillTestWallet } from './demo-shop.ts';
import { findBitcoinCore } from './find-bitcoin-core.ts';

/** A demo that is ready to be served. */
export interface Demo {
  /** The context to serve with. If the demo has a node, the node replaces the folder of blocks. */
  readonly context: CommandContext;
  readonly additions: Additions;
  /** Text for people: whether the demo accepts orders, and the reason if it does not. */
  readonly words: string;
}

/** How long the query for waiting reveals may take, in ms. The query reads one row. */
const statementTimeoutMs = 5000;

const withoutCore =
  'no orders, because Bitcoin Core is missing; `bash scripts/install-bitcoind.sh` installs it, and the next start uses it';

/**
 * Prepares the demo of a sample with collections. If Bitcoin Core is installed, the demo gets its own regtest node, so
 * that orders can be paid and delivered. Otherwise the demo has only the blocks of the sample. Throws `data_dir_busy`
 * if another demo runs in the folder.
 */
export async function prepareDemo(context: CommandContext, sample: string): Promise<Demo> {
  const { dataDir } = context.config;
  await mkdir(dataDir, { recursive: true });
  // check this before stopping a leftover node, because the node of a running demo is in the same folder
  await refuseOwned(dataDir);
  const program = await findBitcoinCore(processEnvironment());
  const node = program === null ? null : await ownNode(context, program, sample);
  const collections = join(sample, 'collections');
  if (node instanceof AppError || node === null) {
    const additions = {
      prepare: (database: Parameters<Additions['prepare']>[0]) =>
        fillDemo(database, { collections, seedFile: null }),
      demo: null,
    };
    return { context, additions, words: node === null ? withoutCore : `no orders: ${node.message}` };
  }
  await writeFile(join(dataDir, 'node.env'), nodeSettings(node));
  const seedFile = resolve(dataDir, 'wallet.seed');
  // the demo ignores the settings of another node
  const { blocksDir: _, bitcoinRestUrl: __, bitcoinZmq: ___, ...others } = context.config;
  const config = {
    ...others,
    bitcoinRpcUrl: node.rpcUrl,
    bitcoinCookieFile: node.cookieFile,
    walletSeedFile: seedFile,
  };
  const coins = new DemoCoins(node.rpc);
  const testKey = new TestKey(await testPaymentsSecret(config), networks.regtest);
  const isFilled = await fillTestWallet(node.rpc, coins, testKey.script);
  return {
    context: { ...context, config },
    additions: {
      prepare: async (database) => {
        await fillDemo(database, { collections, seedFile });
        void context.lifecycle.run('blocks of the demo', () => mine(context, node.rpc, database));
      },
      demo: coins,
    },
    words: `orders are on at /inscribe, and for shops${isFilled ? '' : ' without test payments, because no coins are left for them'} (docs/tokenpay.md, "Try it"). The demo has its own regtest node, so coins are worth nothing. A block comes ten seconds after a payment`,
  };
}

/** Mines blocks until the service ends. */
async function mine(context: CommandContext, rpc: BatchRpc, { url }: Database): Promise<void> {
  const pool = createPool(url, { applicationName: 'satscribe demo', max: 1, statementTimeoutMs });
  try {
    await mineWhatWaits(context, rpc, () => isRevealAwaited(pool));
  } finally {
    await pool.end();
  }
}

/** Settings for a shell, so that commands in another terminal can reach the node. Its port differs at each start. */
const nodeSettings = ({ rpcUrl, cookieFile }: DemoNode): string =>
  [
    `export BITCOIN_RPC_URL=${rpcUrl}`,
    `export BITCOIN_COOKIE_FILE='${cookieFile.replaceAll("'", `'\\''`)}'`,
    '',
  ].join('\n');

async function ownNode(
  context: CommandContext,
  program: string,
  sample: string,
): Promise<DemoNode | AppError> {
  const blocks = await openBlocks(context, sample, undefined);
  try {
    return await startDemoNode(context, { program, folder: join(context.config.dataDir, 'node'), blocks });
  } catch (error) {
    if (error instanceof AppError && !context.lifecycle.signal.aborted) return error;
    throw error;
  }
}
