import type pg from 'pg';
import { mempoolState } from '#chain/pending.queries.ts';
import type { Operations } from '#http/operations.ts';
import { readStanding } from '#http/standing.ts';
import { unsealedOf } from '#http/status-answer.ts';
import { createMetrics, type Metrics, type ReadValue } from '#kernel/metrics.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { withSnapshot } from '#kernel/pg/snapshot.ts';
import type { CommandContext } from '#src/commands/command.ts';
import { version } from '#src/version.ts';
import type { Database } from './database.ts';

/** Health, metrics and a status at once; searches and the writer have connections of their own. */
const connectionsMax = 3;
/** Small questions of the newest rows: one that takes longer says that the server is in trouble. */
const statementTimeoutMs = 5000;

export interface OperationsParts extends Operations {
  /** Whether this process waits for another one that indexes. */
  setStandby(standsBy: boolean): void;
  /** Shows the connections of a pool in the metrics. */
  watchPool(name: string, pool: pg.Pool): void;
}

/** What `/status`, `/health` and `/metrics` need, for the life of the process. */
export function openOperations(context: CommandContext, database: Database): OperationsParts {
  const { config, lifecycle, logger } = context;
  const log = logger.child({ part: 'operations' });
  const pool = createPool(database.url, {
    applicationName: 'satscribe operations',
    max: connectionsMax,
    statementTimeoutMs,
    onError: (error) => log.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('operations connections', () => pool.end());
  const metrics = createMetrics((name, error) =>
    log.debug({ err: error, metric: name }, 'a measurement could not be read'),
  );
  const pools = new Map<string, pg.Pool>();
  readDatabase(metrics, pool);
  readPools(metrics, pools);
  let standsBy = false;
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
    watchPool: (name, watched) => pools.set(name, watched),
  };
  operations.watchPool('readers', database.readers);
  metrics.read({
    name: 'satscribe_ready_problems',
    help: 'Parts of this process that cannot work, by error code',
    labels: ['code'],
    values: () => operations.health.problems().map(({ code }) => ({ labels: { code }, value: 1 })),
  });
  metrics.read({
    name: 'satscribe_info',
    help: 'Always 1; the labels say what runs',
    labels: ['version', 'role'],
    values: () => [{ labels: { version, role: config.role }, value: 1 }],
  });
  return operations;
}

/** What only the database knows, the same in every process. */
function readDatabase(metrics: Metrics, pool: pg.Pool): void {
  const standing = (name: string, help: string, of: StandingValue): void =>
    metrics.read({
      name,
      help,
      values: async () => {
        const value = of(await readStanding(pool));
        return value === null ? [] : [{ value }];
      },
    });
  standing('satscribe_tip_height', 'Height of the indexed tip', ({ tip }) => tip?.height ?? null);
  standing(
    'satscribe_source_tip_height',
    'Height of the best block of the source',
    ({ status }) => status?.sourceTip?.height ?? null,
  );
  standing(
    'satscribe_lag_blocks',
    'Blocks that the source has and the index has not',
    ({ lag }) => lag?.blocks ?? null,
  );
  standing(
    'satscribe_lag_seconds',
    'Age of the indexed tip while there are newer blocks, else 0',
    ({ lag }) => lag?.seconds ?? null,
  );
  standing(
    'satscribe_indexer_silence_seconds',
    'Time since the process that indexes said something',
    ({ ageSeconds }) => ageSeconds,
  );
  metrics.read({
    name: 'satscribe_indexer_problem',
    help: 'What keeps the process that indexes from its work, by error code',
    labels: ['code'],
    values: async () => {
      const { status } = await readStanding(pool);
      return status?.problem == null ? [] : [{ labels: { code: status.problem.code }, value: 1 }];
    },
  });
  metrics.read({
    name: 'satscribe_mempool_transactions',
    help: 'Transactions of the mempool: all, those that matter and are kept, those that matter and found no room',
    labels: ['kind'],
    values: async () => {
      const found = await withSnapshot(pool, ({ client }) => mempoolState(client));
      if (found === null) return [];
      return [
        { labels: { kind: 'all' }, value: found.transactions },
        { labels: { kind: 'kept' }, value: found.kept },
        { labels: { kind: 'left_out' }, value: found.leftOut },
      ];
    },
  });
  metrics.read({
    name: 'satscribe_search_unsealed',
    help: 'Texts and inscriptions that are scanned by each search, until they are sealed into a segment',
    labels: ['kind'],
    values: async () => {
      const unsealed = await withSnapshot(pool, ({ client }) => unsealedOf(client));
      return Object.entries(unsealed).map(([kind, value]) => ({ labels: { kind }, value }));
    },
  });
  metrics.read({
    name: 'satscribe_database_up',
    help: '1 where the database answers',
    values: async () => {
      const isUp = await pool.query('SELECT 1').then(
        () => true,
        () => false,
      );
      return [{ value: isUp ? 1 : 0 }];
    },
  });
}

type StandingValue = (standing: Awaited<ReturnType<typeof readStanding>>) => number | null;

function readPools(metrics: Metrics, pools: ReadonlyMap<string, pg.Pool>): void {
  const each = (values: (name: string, pool: pg.Pool) => ReadValue[]): ReadValue[] =>
    [...pools].flatMap(([name, pool]) => values(name, pool));
  metrics.read({
    name: 'satscribe_pg_connections',
    help: 'Connections of a pool; waiting: questions that wait for one',
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
    help: 'Connections that a pool may have',
    labels: ['pool'],
    values: () => each((name, pool) => [{ labels: { pool: name }, value: pool.options.max }]),
  });
}
