import { type Logger, pino } from 'pino';
import type { SearchAccess } from '#accounts/search-access.ts';
import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import { CreatorCollections } from '#collections/creator-collections.ts';
import type { Budgets } from '#http/server/budgets/budget-bounds.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import type { EventLoopLimits } from '#http/server/budgets/pressure.ts';
import type { Operations } from '#http/server/operations.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { loggerInto } from '#kernel/reports/logger.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { urlProblem } from '#outgoing/stranger-url.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { KeyWatches } from '#watches/key-watches.ts';
import { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { type BlockSpec, insertChain } from './chain/rows/chain-rows.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { buildCheckedApp } from './http/checked-app.ts';
import { testOperations } from './http/operations.ts';

export interface HttpApp {
  readonly app: App;
  readonly database: TestDatabase;
  /** The log, one object per line. */
  readonly logged: Record<string, unknown>[];
  close(): Promise<void>;
}

export interface HttpAppOptions {
  readonly network?: NetworkName;
  /** Replaces the search engine of the database, so that tests can cause faults. */
  readonly search?: SearchService;
  readonly operations?: Partial<Operations>;
  /** Decides who may search. Default: all clients. */
  readonly access?: (database: TestDatabase) => SearchAccess;
  readonly trustedProxies?: readonly string[];
  readonly eventLoop?: EventLoopLimits;
  readonly budgets?: Partial<Budgets>;
  readonly eventKinds?: readonly StoredEventKind[];
  /** Reads contents. Default: reads with the connections of the database. */
  readonly contents?: (database: TestDatabase) => ContentReads;
  /** Parts that decide prices. Default: the published prices, and no special sats. */
  readonly prices?: Pick<AppDependencies, 'prices' | 'inventory' | 'fxRates'>;
  /** A node, raw blocks, and the folder of thumbnails. Default: none of these. */
  readonly sources?: Partial<Pick<AppDependencies, 'node' | 'blocks' | 'thumbnailsFolder'>>;
  /** Parts that read once for all clients. Default: those of a service. */
  readonly shared?: Pick<AppDependencies, 'banner' | 'tipAnswers'>;
  /** Makes the orders. Default: no orders are accepted. */
  readonly orders?: (database: TestDatabase) => Promise<CustomerOrders | null>;
}

/** Makes the app with a new database and a chain. It answers like a service, with the role that can only read. */
export async function createHttpApp(
  blocks: readonly BlockSpec[],
  {
    network = 'regtest',
    search,
    operations,
    access,
    trustedProxies,
    eventLoop,
    budgets,
    eventKinds,
    contents,
    sources,
    prices,
    shared,
    orders = async () => null,
  }: HttpAppOptions = {},
): Promise<HttpApp> {
  const database = await createTestDatabase();
  await insertChain(database.pool, blocks, network);
  const engine = createPostgresEngine();
  const logged: Record<string, unknown>[] = [];
  const write = (line: string): void => {
    logged.push(JSON.parse(line) as Record<string, unknown>);
  };
  const logger = loggerInto({ write }, 'info');
  const app = buildCheckedApp({
    pool: database.readers,
    search: search ?? createSearchService({ pool: database.readers, engine }),
    network: networks[network],
    logger,
    operations: testOperations(database.readers, operations),
    access: access?.(database) ?? null,
    trustedProxies: trustedProxies ?? null,
    ...sources,
    ...prices,
    orders: await orders(database),
    collections: new CreatorCollections(database.accessPool),
    watches: new KeyWatches({
      pool: database.accessPool,
      secrets: async () => new WebhookKeys(Buffer.alloc(32, 7)),
      urlProblem: (url) => urlProblem(url),
    }),
    ...(eventLoop === undefined ? {} : { eventLoop }),
    ...(budgets === undefined ? {} : { budgets }),
    ...(eventKinds === undefined ? {} : { eventKinds }),
    ...shared,
    ...(contents === undefined ? {} : { contents: contents(database) }),
  });
  await app.ready();
  return {
    app,
    database,
    logged,
    close: async () => {
      // all requests have ended, but `close` would wait for connections that clients keep open
      app.server.closeAllConnections();
      await app.close();
      await engine.close();
      await database.drop();
    },
  };
}

/** The response to a search, typed as loosely as tests of bad input need it. */
export interface SearchBody {
  readonly status: string;
  readonly error?: string;
  readonly count: number;
  readonly totalItems: number;
  readonly results: readonly Readonly<Record<string, unknown>>[];
}

export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
