import { createHash } from 'node:crypto';
import type pg from 'pg';
import { expect } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { SearchEngine } from '#kernel/contracts/search-engine.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { foldText } from '#kernel/text/fold.ts';
import { createElasticEngine } from '#search/elastic/elastic-engine.ts';
import {
  createElasticClient,
  type ElasticClient,
  type ElasticSettings,
} from '#search/elastic/server/elastic-client.ts';
import { readMarker } from '#search/elastic/server/marker.ts';
import { readAlias } from '#search/elastic/server/search-index.ts';
import { buildIndex } from '#search/sync/index-build.ts';
import { readCatalog } from '#search/sync/index-catalog.ts';
import { readDatabaseIdentity } from '#search/sync/outbox.ts';
import { IndexSync } from '#search/sync/sync-step.ts';
import type { EngineUnderTest } from '#test/support/search/conformance-subject.ts';
import { naiveHashSearch, naiveTextSearch } from '#test/support/search/naive-search.ts';
import type { SearchRows, StoredInscription } from '#test/support/search/search-rows.ts';
import { sharedElasticsearch } from './shared-elasticsearch.ts';

let prefixes = 0;

/** Returns an unused network name, for an Elasticsearch that other tests use too. */
export const freshPrefix = (): string =>
  `test-${process.pid}-${Date.now().toString(36)}-${(prefixes++).toString(36)}`;

/** Maximum number of texts that are searched, spread over all texts. All keys are compared. */
const askedMax = 40;

function sampleOf<T>(all: readonly T[]): T[] {
  const every = Math.ceil(all.length / askedMax);
  return all.filter((_, at) => at % every === 0);
}

export interface SyncedIndex {
  readonly prefix: string;
  readonly alias: string;
  /** A client that does not go through the faults. */
  readonly elastic: ElasticClient;
  readonly engine: SearchEngine;
  /** Returns the name of the index that serves searches. Throws if there is none. */
  served(): Promise<string>;
  /** Runs a sync until no work is left, or until a failure. Like a new process, it knows nothing of earlier ones. */
  catchUp(through: ElasticClient, keysMax: number): Promise<void>;
  /**
   * Checks that every inscription that can be found is in the index once, and that searches find the same as a scan of
   * all.
   */
  expectWhole(): Promise<void>;
  close(): Promise<void>;
}

interface Hit {
  readonly _id: string;
  readonly fields: { readonly keys: readonly number[]; readonly count: readonly number[] };
}

export function createSyncedIndex(
  pool: pg.Pool,
  databaseUrl: string,
  /** The expected rows. They may be `null` if `expectWhole` is not called. */
  rows: SearchRows | null,
  server: string | ElasticSettings,
  prefix = freshPrefix(),
): SyncedIndex {
  const elastic = createElasticClient(typeof server === 'string' ? { url: server } : server);
  const alias = readAlias(prefix, 'regtest');
  const engine = createElasticEngine({ client: elastic, alias, readDatabase: readDatabaseIdentity });
  const signal = new AbortController().signal;

  const served = async (): Promise<string> => {
    const catalog = await readCatalog(elastic, prefix, 'regtest');
    if (catalog.served === null) throw new Error('no index is served');
    return catalog.served;
  };

  const catchUp = async (through: ElasticClient, keysMax: number): Promise<void> => {
    const chain = await connectClient(databaseUrl);
    try {
      await takeAdvisoryLock(chain, 'searchSync');
      const catalog = await readCatalog(through, prefix, 'regtest');
      if (catalog.served === null) {
        const build = { prefix, network: 'regtest', shards: 1, replicas: 0, loadKeysMax: keysMax } as const;
        await buildIndex({ ...build, elastic: through, chain, signal });
      }
      const index = catalog.served ?? (await served());
      const sync = await IndexSync.open({ elastic: through, index, chain, signal, keysMax });
      if (sync === null) throw new Error('no marker');
      while ((await sync.step()).kind !== 'nothing');
    } finally {
      await chain.end();
    }
  };

  const readKeys = async (index: string): Promise<number[]> => {
    const { marker } = (await readMarker(elastic, index))!;
    const { rows: blocks } = await pool.query<{ next_key: number }>(
      'SELECT coalesce(max(next_key), 0) AS next_key FROM chain.blocks',
    );
    expect(marker.nextKey).toBe(blocks[0]!.next_key);
    const keys: number[] = [];
    for (let after: number[] | undefined = [-1]; after !== undefined; ) {
      const answer: { hits: { hits: readonly Hit[] } } = await elastic.request({
        method: 'POST',
        path: `/${index}/_search`,
        body: {
          size: 1000,
          sort: [{ firstKey: 'asc' }],
          search_after: after,
          query: { range: { firstKey: { lt: marker.nextKey } } },
          docvalue_fields: ['keys', 'count'],
        },
      });
      for (const { _id: id, fields } of answer.hits.hits) {
        expect(fields.count).toEqual([fields.keys.length]);
        expect(fields.keys[0]).toBe(Number(id));
        keys.push(...fields.keys);
      }
      const last = answer.hits.hits.at(-1);
      after = last === undefined ? undefined : [Number(last._id)];
    }
    return keys.toSorted((a, b) => a - b);
  };

  const expectFound = async (inscriptions: readonly StoredInscription[]): Promise<void> => {
    const page = { page: 1, itemsPerPage: 1000 };
    const findable = inscriptions.filter(({ content, metadata }) => content !== null || metadata !== null);
    const bodies = new Map(
      findable.flatMap(({ content }) =>
        content === null ? [] : [[Buffer.from(content.body).toString('hex'), content]],
      ),
    );
    await withSnapshot(
      pool,
      async (snapshot) => {
        if (snapshot.tip === null) return;
        for (const { body, text } of sampleOf([...bodies.values()])) {
          const hash = createHash('sha256').update(body).digest();
          const found = await engine.searchHash(snapshot, { hash, ...page });
          expect({ keys: found.keys, totalItems: found.totalItems }).toEqual(
            naiveHashSearch(inscriptions, hash, page),
          );
          expect({ ...found.tip, hash: displayHash(found.tip!.hash) }).toEqual({
            ...snapshot.tip,
            hash: displayHash(snapshot.tip.hash),
          });
          if (text === null || text === '') continue;
          const needle = text.slice(0, 20);
          const byText = await engine.searchText(snapshot, {
            corpus: 'content',
            needles: [foldText(needle)],
            ...page,
          });
          expect({ keys: byText.keys, totalItems: byText.totalItems }).toEqual(
            naiveTextSearch(inscriptions, 'content', [needle], page),
          );
        }
        const jsons = new Set(findable.flatMap(({ metadata }) => metadata ?? []));
        for (const json of sampleOf([...jsons])) {
          const found = await engine.searchText(snapshot, {
            corpus: 'metadata',
            needles: [foldText(json)],
            ...page,
          });
          expect({ keys: found.keys, totalItems: found.totalItems }).toEqual(
            naiveTextSearch(inscriptions, 'metadata', [json], page),
          );
        }
      },
      null,
    );
  };

  return {
    prefix,
    alias,
    elastic,
    engine,
    served,
    catchUp,
    expectWhole: async () => {
      const inscriptions = rows?.inscriptions ?? [];
      const findable = inscriptions.filter(({ content, metadata }) => content !== null || metadata !== null);
      expect(await readKeys(await served())).toEqual(findable.map(({ key }) => key));
      await expectFound(inscriptions);
    },
    close: async () => {
      await engine.close();
      await elastic
        .request({ method: 'DELETE', path: `/${await served().catch(() => `${alias}-none`)}` })
        .catch(() => undefined);
      await elastic.close();
    },
  };
}

/** The engine in the shared Elasticsearch, which the sync fills from a test's database. */
export async function syncedEngineUnderTest(pool: pg.Pool): Promise<EngineUnderTest> {
  const index = createSyncedIndex(pool, pool.options.connectionString!, null, await sharedElasticsearch());
  const takeUp = (): Promise<void> => index.catchUp(index.elastic, 100);
  // makes the index before any block is indexed
  await takeUp();
  const forget = (): Promise<void> => Promise.resolve();
  return { engine: index.engine, isFollower: true, takeUp, forget, close: () => index.close() };
}
