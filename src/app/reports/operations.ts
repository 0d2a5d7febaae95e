import type pg from 'pg';
import { mayPostgresSearch } from '#config/config.ts';
import type { Operations, SearchServerReport } from '#http/server/operations.ts';
import { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import { version } from '#kernel/process/version.ts';
import { createMetrics, type Metrics, type ReadValue } from '#kernel/reports/metrics.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openAnsweringPool } from '#src/app/database/answering-pool.ts';
import type { AnsweringDatabase } from '#src/app/database/database.ts';
import { readDatabase } from './database-metrics.ts';
import { diskRoomOf } from './disk-room.ts';

/**
 * Maximum number of connections, so that health, metrics and a status can be read at once. Searches and the writer have
 * their own connections.
 */
const connectionsMax = 3;
/**
 * How long a statement may take, in ms. Statements read a few of the newest rows, so a slower one means that the server
 * has a problem.
 */
const statementTimeoutMs = 5000;

export interface OperationsParts extends Operations {
  /** Sets whether this process waits because another process indexes. */
  setStandby(standsBy: boolean): void;
  /** Adds the connections of a pool to the metrics. */
  watchPool(this: void, name: string, pool: pg.Pool): void;
  /** The searches of this process. Its background work yields to them. */
  readonly demand: SearchDemand;
  /** Adds a search server to the status and the metrics. */
  readonly watchSearchServer: (report: SearchServerReport) => void;
}

/** Collects the data of `/status`, `/health` and `/metrics` for the life of the process. */
export function openOperations(context: CommandContext, database: AnsweringDatabase): OperationsParts {
  const { config, lifecycle, logger } = context;
  const log = logger.child({ part: 'operations' });
  const pool = openAnsweringPool({ lifecycle, log }, database, {
    applicationName: 'satscribe operations',
    part: 'operations connections',
    max: connectionsMax,
    statementTimeoutMs,
    readOnly: true,
  });
  const metrics = createMetrics((name, error) =>
    log.debug({ err: error, metric: name }, 'a metric could not be read'),
  );
  const pools = new Map<string, pg.Pool>();
  readDatabase(metrics, pool, mayPostgresSearch(config));
  readPools(metrics, pools);
  let standsBy = false;
  let searchServer: SearchServerReport | undefined;
  const operations: OperationsParts = {
    version,
    role: config.role,
    startedAt: new Date(),
    health: context.health,
    metrics,
    pool,
    lagMaxBlocks: config.readyLagBlocks,
    standsBy: () => standsBy,
    setStandby: (value) => {
      standsBy = value;
    },
    demand: new SearchDemand(),
    watchPool: (name, watched) => pools.set(name, watched),
    get searchServer() {
      return searchServer;
    },
    diskRoom: () => diskRoomOf(config.dataDir),
    watchSearchServer: (report) => {
      searchServer = report;
      readSearchServer(metrics, report);
    },
  };
  operations.watchPool('readers', database.readers);
  operations.watchPool('contents', database.contents);
  metrics.read({
    name: 'satscribe_ready_problems',
    help: 'Parts of this process that have a problem, by error code',
    labels: ['code'],
    values: () => operations.health.problems().map(({ code }) => ({ labels: { code }, value: 1 })),
  });
  metrics.read({
    name: 'satscribe_info',
    help: 'Always 1; the labels show the version and the role',
    labels: ['version', 'role'],
    values: () => [{ labels: { version, role: config.role }, value: 1 }],
  });
  return operations;
}

function readSearchServer(metrics: Metrics, { standing, problem }: SearchServerReport): void {
  metrics.read({
    name: 'satscribe_search_server_up',
    help: '1 if the search server answered the last search, else 0',
    values: async () => {
      await standing();
      return [{ value: problem() === null ? 1 : 0 }];
    },
  });
  metrics.read({
    name: 'satscribe_search_lag',
    help: 'Blocks that the index of the search server is behind the chain',
    labels: ['unit'],
    values: async () => {
      const { lagBlocks, lagSequence } = await standing();
      return [
        ...(lagBlocks === null ? [] : [{ labels: { unit: 'blocks' }, value: lagBlocks }]),
        ...(lagSequence === null ? [] : [{ labels: { unit: 'rows' }, value: lagSequence }]),
      ];
    },
  });
}

function readPools(metrics: Metrics, pools: ReadonlyMap<string, pg.Pool>): void {
  const each = (values: (name: string, pool: pg.Pool) => ReadValue[]): ReadValue[] =>
    [...pools].flatMap(([name, pool]) => values(name, pool));
  metrics.read({
    name: 'satscribe_pg_connections',
    help: 'Connections of a pool; waiting: queries that wait for a connection',
    labels: ['pool', 'state'],
    values: () =>
      each((name, { totalCount, idleCount, waitingCount }) => [
        { labels: { pool: name, state: 'used' }, value: totalCount - idleCount },
        { labels: { pool: name, state: 'idle' }, value: idleCount },
        { labels: { pool: name, state: 'waiting' }, value: waitingCount },
      ]),
  });
  metrics.read({
    name: 'satscribe_pg_connections_limit',
    help: 'Maximum number of connections of a pool',
    labels: ['pool'],
    values: () => each((name, pool) => [{ labels: { pool: name }, value: pool.options.max }]),
  });
}
