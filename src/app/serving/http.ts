import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseTrustedProxies } from '#accounts/trusted-proxies.ts';
import { buildApp } from '#http/app.ts';
import type { DemoPayments } from '#http/demo/demo-payments.ts';
import { ContentReads } from '#http/server/budgets/content-reads.ts';
import { answersRequests } from '#http/server/operations.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { eventKinds } from '#indexer/derived/event-kinds.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { createSearchService, searchGate } from '#search/service/search-service.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { AnsweringDatabase, Database } from '#src/app/database/database.ts';
import { openCreatorCollections } from '#src/app/ordering/collections.ts';
import { openConsole } from '#src/app/ordering/console.ts';
import { openFxRates } from '#src/app/ordering/fx-rates.ts';
import { openCustomerOrders } from '#src/app/ordering/orders.ts';
import {
  openAccountWithdrawals,
  openShopOrders,
  openTestPayments,
} from '#src/app/ordering/token-payments.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { openInventory } from '#src/app/sats/inventory.ts';
import { openSatTracer } from '#src/app/sats/sat-tracer.ts';
import { openUtxos } from '#src/app/sats/utxos.ts';
import { openSearchEngine } from '#src/app/searching/search.ts';
import { openKeyWatches } from '#src/app/watching/key-watches.ts';
import { openAccess } from './access.ts';
import { addressOf, listen } from './listen.ts';
import type { Waited } from './waiting.ts';

/** How long requests received before the stop may still take, in ms. Most requests take milliseconds. */
const answerGraceMs = 4000;
/** How often running statements are cancelled after that time, in ms. Their requests are answered with an error. */
const cancelEveryMs = 500;
const httpStopMs = 10_000;
/** Share of the memory for unsent responses that one client may use. Four clients can use all of it. */
const unsentShare = 0.25;

export interface HttpParts {
  readonly database: AnsweringDatabase;
  /** For the operator's console. Null: this process has only the rights of the reader. */
  readonly owner: Database | null;
  readonly network: NetworkName;
  /** Returns the current satribute definitions. */
  readonly satributes: () => SatributeBook;
  readonly operations: OperationsParts;
  /** Source of blocks for responses with transactions. */
  readonly blocks: BlockSource | null;
  /** The node, for data that the index lacks. */
  readonly node: BatchRpc | null;
  /** Payments of a demo. Absent if this is not a demo. */
  readonly demo?: DemoPayments | null;
}

/** The port to listen on, and a function that frees it first. */
export type Listening = Pick<Waited<unknown>, 'port' | 'release'>;

/**
 * Serves the API and the pages of a database until the lifecycle ends. An indexer serves only its health and metrics.
 * Returns a URL that a browser on this machine can open.
 */
export async function serveHttp(
  context: CommandContext,
  { database, owner, network, satributes, operations, blocks, node, demo = null }: HttpParts,
  { port, release }: Listening = { port: context.config.port, release: () => Promise.resolve() },
): Promise<{ address: string }> {
  const { config, lifecycle, logger } = context;
  const engine = openSearchEngine(context, network, operations);
  const gate = searchGate();
  operations.metrics.watchQueue('searches', () => gate.state);
  const contents = new ContentReads(database.contents);
  operations.metrics.watchQueue('contents', () => contents.waiting);
  operations.metrics.watchQueue('contents being sent', () => contents.sending);
  const satTracer = node === null || blocks === null ? null : openSatTracer(database.readers, node, blocks);
  if (satTracer !== null) operations.metrics.watchQueue('outputs being traced', () => satTracer.waiting);
  const utxos = openUtxos(context, { pool: database.readers, network, node, tracer: satTracer, operations });
  const app = buildApp({
    pool: database.readers,
    contents,
    publicOrigin: config.publicUrl === undefined ? null : new URL(config.publicUrl).origin,
    thumbnailsFolder: join(config.dataDir, 'thumbnails'),
    search: createSearchService({ pool: database.readers, engine, gate, demand: operations.demand }),
    network: networks[network],
    eventKinds,
    logger: logger.child({ part: 'http' }),
    operations,
    access: answersRequests(config.role) ? openAccess(context, database, operations.watchPool) : null,
    budgets: {
      connections: config.connections,
      connectionsEach: Math.min(config.connections, config.connectionsPerAddress),
      unsentBytes: config.unsentMegabytes * 1e6,
      unsentBytesEach: config.unsentMegabytes * 1e6 * unsentShare,
    },
    trustedProxies: config.trustProxy === undefined ? null : parseTrustedProxies(config.trustProxy),
    blocks,
    node,
    satributes,
    satTracer,
    utxos,
    demo,
    watches: answersRequests(config.role) ? openKeyWatches(context, database) : null,
    console: owner === null ? null : openConsole(context, owner, node),
    ...openShops(context, { database, network, satributes }),
    fxRates: openFxRates(context),
    prices: {
      baseFee: config.orderBaseFee,
      baseFeeDirect: config.orderBaseFeeDirect,
      sizeFeePercent: config.orderSizeFeePercent,
      collectionServiceFee: config.collectionServiceFee,
      referralPercent: config.referralPercent,
      holdMinutes: config.quoteHoldMinutes,
      nonStandard: config.nonstandardMinerUrl !== undefined,
    },
    inventory: openInventory(context, { pool: database.readers, network, satributes, node, utxos }),
  });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= closeApp(app, database);
    return closing;
  };
  // refuse new requests as soon as the stop begins, even if other parts must finish first
  lifecycle.signal.addEventListener('abort', () => void close().catch(() => undefined), { once: true });
  lifecycle.add('http', close, httpStopMs);
  // the app that answered on this port during the wait closes once this app can answer
  await app.ready();
  await release();
  const taken = await listen(app, config.host, port);
  return { address: `http://${addressOf(config.host)}:${taken}` };
}

/** Opens the parts that take orders, if the role of the process includes orders. */
function openShops(
  context: CommandContext,
  { database, network, satributes }: Pick<HttpParts, 'database' | 'network' | 'satributes'>,
): Pick<AppDependencies, 'orders' | 'shopOrders' | 'withdrawals' | 'testPayments' | 'collections'> {
  const { role } = context.config;
  const answers = answersRequests(role);
  return {
    orders: role === 'indexer' || role === 'search-sync' ? null : openCustomerOrders(context, database),
    shopOrders: answers ? openShopOrders(context, database) : null,
    withdrawals: answers ? openAccountWithdrawals(context, database) : null,
    testPayments: answers ? openTestPayments(context, database, network, satributes) : null,
    collections: answers ? openCreatorCollections(context, database) : null,
  };
}

async function closeApp(app: App, database: AnsweringDatabase): Promise<void> {
  const closed = app.close().then((): true => true);
  if (await withinMs(closed, answerGraceMs)) return;
  while (!(await withinMs(closed, cancelEveryMs))) {
    await database.cancelReaders().catch(() => undefined);
    // also close connections of clients that have sent no request yet, or that do not read the response
    if (await withinMs(closed, cancelEveryMs)) return;
    app.server.closeAllConnections();
  }
}

function withinMs(done: Promise<true>, milliseconds: number): Promise<boolean> {
  return Promise.race([done, sleep(milliseconds, false)]);
}
