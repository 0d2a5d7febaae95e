import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SearchEngine } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { createElasticClient } from '#search/elastic/server/elastic-client.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { createFallbackEngine } from '#search/sync/fallback-engine.ts';
import { runSearchSync } from '#search/sync/search-sync.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';
import { createSyncedIndex, syncedEngineUnderTest } from '#test/support/elasticsearch/synced-index.ts';
import { naiveTextSearch } from '#test/support/search/naive-search.ts';
import { describeRandomSearches } from '#test/support/search/search-engine-conformance.ts';
import {
  createSearchRows,
  type SearchRows,
  type StoredInscription,
  text,
} from '#test/support/search/search-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const noHook = (): Promise<void> => Promise.resolve();
const isThere = hasElasticsearch();

if (isThere) {
  // This tests the sync, because the engine has its own suite. test/proofs/search-behind-sync.test.ts runs the whole
  // suite after a sync.
  describeRandomSearches('the synced Elasticsearch engine', syncedEngineUnderTest, 1);
}

describe.runIf(isThere)('searches while the chain and the index advance', () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let url: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    url = await sharedElasticsearch();
  });
  afterAll(() => database?.drop());

  for (const fallback of ['postgres', 'error'] as const) {
    test(`each answer is of one block, hits and records, with fallback ${fallback}`, {
      tags: fallback === 'error' ? ['proof'] : [],
    }, async () => {
      await rows.clear();
      const index = createSyncedIndex(database.pool, database.url, rows, url);
      const elastic = createElasticClient({ url });
      const ending = new AbortController();
      const states = new Map<string, readonly StoredInscription[]>();
      let tip = 'none';
      const remember = async (): Promise<void> => {
        const { rows: tips } = await database.pool.query<{ tip_hash: Buffer | null }>(
          'SELECT tip_hash FROM chain.state',
        );
        const hash = tips[0]!.tip_hash;
        tip = hash === null ? 'none' : displayHash(hash);
        states.set(tip, [...rows.inscriptions]);
      };
      await remember();
      const engine: SearchEngine = createFallbackEngine({
        first: index.engine,
        fallback: fallback === 'postgres' ? createPostgresEngine() : null,
        lagMaxBlocks: 2,
      });
      const service = createSearchService({ pool: database.pool, engine });
      const sync = runSearchSync(
        {
          databaseUrl: database.url,
          elastic,
          prefix: index.prefix,
          network: 'regtest',
          shards: 2,
          replicas: 0,
          news: {
            mark: () => 0,
            news: (_, __, signal) => delay(5, undefined, { signal }).catch(() => undefined),
          },
        },
        ending.signal,
      );
      const answers: { tip: string; totalItems: number; contents: (string | null)[]; page: number }[] = [];
      let refused = 0;
      const ask = async (seed: number): Promise<void> => {
        for (let turn = 0; !ending.signal.aborted; turn++) {
          const page = 1 + ((turn + seed) % 3);
          try {
            const { tip: foundTip, value } = await service.textSearch({
              corpus: 'content',
              text: 'shared',
              phrase: true,
              page,
              itemsPerPage: 20,
            });
            answers.push({
              tip: foundTip === null ? 'none' : displayHash(foundTip.hash),
              totalItems: value.totalItems,
              contents: value.records.map(({ contentstr }) => contentstr),
              page,
            });
          } catch (error) {
            if (!(error instanceof AppError) || !error.code.startsWith('search_engine_')) throw error;
            refused++;
            await delay(5);
          }
        }
      };
      const asking = [ask(0), ask(1), ask(2)];
      let serial = 0;
      for (let round = 0; round < 40; round++) {
        // after each reorganisation other texts get the same keys
        await rows.addBlock(
          Array.from({ length: 7 }, (_, at) => ({
            content: text(at % 3 === 0 ? 'shared' : `shared ${serial++}`),
            metadata: null,
          })),
        );
        await remember();
        if (round % 4 === 3) {
          await rows.undoAbove(rows.height - 1 - (round % 3), noHook);
          await remember();
        }
        // sometimes the sync gets enough time to reach the chain's tip
        await delay(round % 5 === 0 ? 150 : 20);
      }
      // a busy machine answers few searches while blocks come this fast; the last answers must be of the tip
      await waitUntil(() => answers.length > 20 && answers.at(-1)?.tip === tip);
      ending.abort();
      await Promise.all([...asking, sync]);
      for (const { tip: at, totalItems, contents, page } of answers) {
        const inscriptions = states.get(at);
        expect(inscriptions).toBeDefined();
        const naive = naiveTextSearch(inscriptions!, 'content', ['shared'], { page, itemsPerPage: 20 });
        const textOfKey = new Map(inscriptions!.map(({ key, content }) => [key, content?.text ?? null]));
        expect({ totalItems, contents }).toEqual({
          totalItems: naive.totalItems,
          contents: naive.keys.map((key) => textOfKey.get(key)),
        });
      }
      if (fallback === 'postgres') expect(refused).toBe(0);
      else expect(refused).toBeGreaterThan(0);
      await index.catchUp(index.elastic, 1000);
      await index.expectWhole();
      await elastic.close();
      await index.close();
    });
  }
});
