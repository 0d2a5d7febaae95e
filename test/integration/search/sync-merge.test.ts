import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { readMarker } from '#search/elastic/server/marker.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { caughtUp, startSync } from '#test/support/elasticsearch/running-sync.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';
import { createSyncedIndex, type SyncedIndex } from '#test/support/elasticsearch/synced-index.ts';
import { createSearchRows, type SearchRows, text } from '#test/support/search/search-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';

interface Segments {
  readonly _all: { readonly primaries: { readonly segments: { readonly count: number } } };
}

describe.skipIf(!hasElasticsearch())('an index that was just loaded', () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let index: SyncedIndex;

  beforeEach(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    index = createSyncedIndex(database.pool, database.url, rows, await sharedElasticsearch());
  });
  afterEach(async () => {
    await index?.close();
    await database?.drop();
  });

  const segments = async (): Promise<number> => {
    const { _all: all } = await index.elastic.request<Segments>({
      method: 'GET',
      path: `/${index.alias}/_stats/segments`,
    });
    return all.primaries.segments.count;
  };

  test('follows the chain if the server refuses to merge', async () => {
    const elastic: ElasticClient = {
      ...index.elastic,
      request: (asked) =>
        asked.path.endsWith('/_forcemerge')
          ? Promise.reject(new AppError('search_engine_refused', 'no merge', {}))
          : index.elastic.request(asked),
    };
    await rows.addBlock([{ content: text('before'), metadata: null }]);
    const sync = startSync({ databaseUrl: database.url, elastic, prefix: index.prefix, mergeAfterMs: 0 });
    await waitUntil(() => sync.problems.includes('search_engine_refused'));
    await rows.addBlock([{ content: text('behind'), metadata: null }]);
    await caughtUp(database.pool, index);
    expect((await readMarker(index.elastic, index.alias))?.marker.isMerged).toBe(false);
    await sync.stop();
    await index.expectWhole();
    expect(sync.problems.filter((code) => code !== 'none')).toEqual(['search_engine_refused']);
  });

  test('is merged once, and follows the chain', async () => {
    for (let block = 0; block < 8; block++) {
      await rows.addBlock(
        Array.from({ length: 20 }, (_, at) => ({
          content: text(`block ${block} text ${at}`),
          metadata: null,
        })),
      );
    }
    const options = { databaseUrl: database.url, elastic: index.elastic, prefix: index.prefix };
    const first = startSync({ ...options, loadKeysMax: 20, mergeAfterMs: 0 });
    await caughtUp(database.pool, index);
    await waitUntil(async () => (await readMarker(index.elastic, index.alias))?.marker.isMerged === true);
    // after the merge the marker is written again, into its own segment
    await waitUntil(async () => (await segments()) <= 2);
    await rows.addBlock([{ content: text('after the merge'), metadata: null }]);
    await caughtUp(database.pool, index);
    await first.stop();
    await index.expectWhole();

    // the process that takes over does not merge again
    const second = startSync({ ...options, mergeAfterMs: 0 });
    await rows.addBlock([{ content: text('of another process'), metadata: null }]);
    await caughtUp(database.pool, index);
    await second.stop();
    expect((await readMarker(index.elastic, index.alias))?.marker.isMerged).toBe(true);
    await index.expectWhole();
    expect([...first.problems, ...second.problems].filter((code) => code !== 'none')).toEqual([]);
  });
});
