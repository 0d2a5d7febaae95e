import { OutboxListener } from '#chain/events/outbox-listener.ts';
import { mayPostgresSearch } from '#config/config.ts';
import type { SearchEngine } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { createElasticEngine } from '#search/elastic/elastic-engine.ts';
import { createElasticClient, type ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { readAlias } from '#search/elastic/server/search-index.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createFallbackEngine } from '#search/sync/fallback-engine.ts';
import { buildIndex } from '#search/sync/index-build.ts';
import { readSearchStanding } from '#search/sync/index-lag.ts';
import { readDatabaseIdentity } from '#search/sync/outbox.ts';
import { runSearchSync } from '#search/sync/search-sync.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { createProgress, type Progress } from '#src/app/reports/progress.ts';

/**
 * How long a search may take, in ms: ten times as long as the slowest searches. After this time the fallback answers,
 * or the client gets an error.
 */
const searchTimeoutMs = 10_000;
/** How long a bulk request may take, in ms. It has some megabytes, and the machine may be busy. */
const syncTimeoutMs = 60_000;
/** How long the sync may take to stop, in ms. It may have to finish a request that cannot be cancelled. */
const syncStopMs = 60_000;
/** How often the same failure is logged again, in ms. */
const sameLineEveryMs = 60_000;

/** Opens a client for the life of the process. Returns `null` if no Elasticsearch is set. */
export function openElastic(
  {
    config,
    lifecycle,
  }: Pick<CommandContext, 'config'> & { readonly lifecycle: Pick<CommandContext['lifecycle'], 'add'> },
  timeoutMs: number,
): ElasticClient | null {
  const { elasticsearchUrl: url } = config;
  if (url === undefined) return null;
  const client = createElasticClient({
    url,
    user: config.elasticsearchUser,
    password: config.elasticsearchPassword,
    apiKey: config.elasticsearchApiKey,
    caFile: config.elasticsearchCaFile,
    timeoutMs,
  });
  lifecycle.add('connections to Elasticsearch', () => client.close());
  return client;
}

/** Opens the search engine of the settings for the life of the process, with its reports. */
export function openSearchEngine(
  context: CommandContext,
  network: NetworkName,
  operations: OperationsParts,
): SearchEngine {
  const { config, lifecycle, logger } = context;
  const log = logger.child({ part: 'search' });
  const elastic = openElastic(context, searchTimeoutMs);
  const postgres = mayPostgresSearch(config) ? createPostgresEngine() : null;
  if (elastic === null) {
    const engine = postgres ?? createPostgresEngine();
    lifecycle.add('search engine', () => engine.close());
    return engine;
  }
  const alias = readAlias(config.elasticsearchIndexPrefix, network);
  const engine = createFallbackEngine({
    first: createElasticEngine({ client: elastic, alias, readDatabase: readDatabaseIdentity }),
    fallback: postgres,
    // hash searches can always use Postgres, because it needs no search index for them
    hashFallback: postgres ?? createPostgresEngine(),
    lagMaxBlocks: config.searchLagBlocks,
    onChange: (problem) => {
      if (problem === null) log.info('Elasticsearch answers searches');
      else log.warn({ code: problem.code, reason: problem.message }, `searches: ${instead(postgres)}`);
    },
  });
  lifecycle.add('search engine', () => engine.close());
  operations.watchSearchServer({
    engine: engine.name,
    fallback: config.searchFallback,
    problem: () => engine.problem(),
    standing: async () => {
      const standing = await readSearchStanding(elastic, alias, operations.pool);
      const { marker, lagBlocks } = standing;
      if (marker?.state === 'complete' && (lagBlocks ?? 0) <= config.searchLagBlocks) engine.seeWhole();
      return standing;
    },
  });
  return engine;
}

const instead = (postgres: SearchEngine | null): string =>
  postgres === null ? 'they are refused' : 'Postgres answers them';

/**
 * Syncs the chain to Elasticsearch in the background until the lifecycle ends. Does nothing if no Elasticsearch is set.
 */
export function startSearchSync(
  context: CommandContext,
  database: Database,
  network: NetworkName,
  operations: OperationsParts,
): void {
  const { config, lifecycle, logger } = context;
  const elastic = openElastic(context, syncTimeoutMs);
  if (elastic === null) return;
  const log = logger.child({ part: 'search sync' });
  const pool = createPool(database.url, { applicationName: 'satscribe search news', max: 1 });
  lifecycle.add('search news', () => pool.end());
  operations.watchPool('search news', pool);
  const news = new OutboxListener(pool).join();
  const reports = syncReports(context);
  lifecycle
    .run(
      'search sync',
      (signal) =>
        runSearchSync(
          {
            databaseUrl: database.url,
            elastic,
            prefix: config.elasticsearchIndexPrefix,
            network,
            shards: config.elasticsearchShards,
            replicas: config.elasticsearchReplicas,
            news,
            ...reports,
          },
          signal,
        ).finally(() => news.done()),
      syncStopMs,
    )
    .catch((error: unknown) => {
      // without the sync, a process with no other task is useless, so it ends and its supervisor restarts it
      if (config.role === 'search-sync') lifecycle.fail(error);
      else log.error({ err: error }, 'the search sync ended');
    });
}

export interface ReindexSummary {
  readonly index: string;
  readonly inscriptions: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** Builds the next index in the foreground. Throws `database_busy` if another process is building one. */
export async function reindexSearch(
  context: CommandContext,
  database: Database,
  network: NetworkName,
): Promise<ReindexSummary> {
  const { config, lifecycle, logger } = context;
  const elastic = openElastic(context, syncTimeoutMs);
  if (elastic === null) throw new AppError('config_invalid', 'ELASTICSEARCH_URL is not set.');
  const log = logger.child({ part: 'search build' });
  const bar = createProgress(
    process.stderr,
    () => performance.now(),
    (fields) => log.info(fields, 'building a search index'),
  );
  const startedAt = performance.now();
  let last = { inscriptions: 0, bytes: 0 };
  const index = await lifecycle.run(
    'search build',
    async (signal) => {
      const chain = await connectClient(database.url, 'satscribe search build');
      try {
        await takeAdvisoryLock(chain, 'searchBuild');
        return await buildIndex({
          elastic,
          prefix: config.elasticsearchIndexPrefix,
          network,
          shards: config.elasticsearchShards,
          replicas: config.elasticsearchReplicas,
          chain,
          signal,
          onProgress: (progress) => {
            last = progress;
            bar.update(progress);
          },
          onRetry: ({ code, message }) => log.warn({ code, reason: message }, 'waiting'),
        });
      } finally {
        bar.finish();
        await chain.end().catch(() => undefined);
      }
    },
    syncStopMs,
  );
  const { inscriptions, bytes } = last;
  return { index, inscriptions, bytes, seconds: Math.round(performance.now() - startedAt) / 1000 };
}

/** Logs the reports of a sync. While an index is built, a bar is drawn on a terminal. */
function syncReports({
  config,
  health,
  logger,
}: CommandContext): Pick<
  Parameters<typeof runSearchSync>[0],
  'onStep' | 'onBuild' | 'onStandby' | 'onProblem'
> {
  const log = logger.child({ part: 'search sync' });
  let bar: Progress | null = null;
  let told: { code: string; at: number } | null = null;
  let isStandby = false;
  // if Postgres answers in place of Elasticsearch, the service stays ready while the sync fails
  const isNeeded = config.role === 'search-sync' || config.searchFallback === 'error';
  return {
    onStep: ({ kind, marker, keys, documents }, seconds) => {
      isStandby = false;
      if (kind === 'rewound')
        log.warn(
          { height: marker.tip?.height ?? null },
          'documents of blocks that were taken back were removed',
        );
      if (kind === 'advanced') {
        log.info(
          { height: marker.tip?.height ?? null, inscriptions: keys, documents, seconds },
          'searchable',
        );
      }
    },
    onBuild: (progress) => {
      if (progress === null) {
        bar?.finish();
        bar = null;
        log.info('a new index is complete and answers searches');
        return;
      }
      bar ??= createProgress(
        process.stderr,
        () => performance.now(),
        (fields) => log.info(fields, 'building a search index'),
      );
      bar.update(progress);
    },
    onStandby: () => {
      if (!isStandby)
        log.info('another process writes the chain to Elasticsearch, so this process is on standby');
      isStandby = true;
    },
    onProblem: (problem: AppError | null) => {
      if (isNeeded) health.report('search sync', problem);
      if (problem === null) {
        told = null;
        log.info('writing to Elasticsearch works again');
        return;
      }
      const now = performance.now();
      if (told?.code === problem.code && now - told.at < sameLineEveryMs) return;
      told = { code: problem.code, at: now };
      log.warn({ code: problem.code, reason: problem.message }, 'waiting');
    },
  };
}
