import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { SearchEngine } from '#kernel/contracts/search-engine.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { createElasticEngine } from '#search/elastic/elastic-engine.ts';
import { createElasticClient, type ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { beginMerge, readAlias } from '#search/elastic/server/search-index.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSealer } from '#search/seal/sealer.ts';
import { buildIndex } from '#search/sync/index-build.ts';
import { readDatabaseIdentity } from '#search/sync/outbox.ts';
import { mergeAfterMsDefault } from '#search/sync/search-sync.ts';
import { startElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';

/** An engine whose index was just built, and the cost of the build. */
export interface EngineUnderBench {
  readonly engine: SearchEngine;
  readonly syncSeconds: number;
  readonly indexBytes: number;
  /** Settings of a service that uses the same index. */
  readonly settings: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  close(): Promise<void>;
}

const postgresTables = ['search_segments', 'search_postings', 'search_columns', 'search_lengths'].map(
  (name) => `chain.${name}`,
);

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Opens the index in Postgres, after sealing everything again. */
export async function openPostgres(databaseUrl: string): Promise<EngineUnderBench> {
  const pool = createPool(databaseUrl, { applicationName: 'satscribe bench' });
  const sealer = createSealer({ pool });
  try {
    await pool.query(`TRUNCATE ${postgresTables.join(', ')}`);
    const syncSeconds = await seconds(() => sealer.sealPending(new AbortController().signal));
    await pool.query(`VACUUM ANALYZE ${postgresTables.join(', ')}`);
    const { rows } = await pool.query<{ bytes: number }>(
      'SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes FROM unnest($1::text[]) AS name',
      [postgresTables],
    );
    const engine = createPostgresEngine();
    return {
      engine,
      syncSeconds,
      indexBytes: rows[0]?.bytes ?? 0,
      settings: {},
      notes: ['syncPerSecond: sealing of everything, by one worker'],
      close: () => engine.close(),
    };
  } finally {
    await sealer.close();
    await pool.end();
  }
}

/** Number of shards: one for each core. */
const shards = 2;

/** Size of the heap in megabytes. A larger heap would leave less memory for the files of the index. */
const heapMegabytes = 2048;

/** Starts the merge like a service does, and waits for its end. */
async function mergeWhole(client: ElasticClient, index: string): Promise<void> {
  await beginMerge(client, index);
  for (;;) {
    const { nodes } = await client.request<{ nodes: object }>({
      method: 'GET',
      path: '/_tasks',
      query: { actions: 'indices:admin/forcemerge*' },
    });
    if (Object.keys(nodes).length === 0) return;
    await delay(1000);
  }
}

/** Starts a separate real Elasticsearch, and fills it like `satscribe search reindex`. */
export async function openElasticsearch(databaseUrl: string): Promise<EngineUnderBench> {
  const server = await startElasticsearch({ heapMegabytes });
  const client = createElasticClient({ url: server.url, timeoutMs: 60_000 });
  const close = async (): Promise<void> => {
    await client.close();
    await server.remove();
  };
  let chain: pg.Client | null = null;
  try {
    chain = await connectClient(databaseUrl, 'satscribe bench build');
    const from = {
      elastic: client,
      prefix: 'satscribe',
      network: 'regtest',
      shards,
      replicas: 0,
    } as const;
    const { signal } = new AbortController();
    let index = '';
    const syncSeconds = await seconds(async () => {
      index = await buildIndex({ ...from, chain: chain as pg.Client, signal });
    });
    await delay(mergeAfterMsDefault);
    const mergeSeconds = await seconds(() => mergeWhole(client, index));
    const { _all: all } = await client.request<{ _all: { primaries: { store: { size_in_bytes: number } } } }>(
      {
        method: 'GET',
        path: `/${index}/_stats/store`,
      },
    );
    const engine = createElasticEngine({
      client,
      alias: readAlias(from.prefix, from.network),
      readDatabase: readDatabaseIdentity,
    });
    return {
      engine,
      syncSeconds,
      indexBytes: all.primaries.store.size_in_bytes,
      settings: { ELASTICSEARCH_URL: server.url, SEARCH_FALLBACK: 'error' },
      notes: [
        `Elasticsearch: one node with a heap of ${heapMegabytes} MB, ${shards} shards, merged a minute after the load, which took ${mergeSeconds.toFixed(0)} s`,
      ],
      close: async () => {
        await engine.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  } finally {
    await chain?.end();
  }
}
