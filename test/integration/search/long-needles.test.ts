import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { SearchEngine } from '#kernel/contracts/search-engine.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createFallbackEngine } from '#search/sync/fallback-engine.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';
import { createSyncedIndex, type SyncedIndex } from '#test/support/elasticsearch/synced-index.ts';
import { createSearchRows, type SearchRows, text } from '#test/support/search/search-rows.ts';

/** A needle of the largest size. It begins and ends with letters that also end and begin phrases of mainnet. */
const long = (at: number): string => `"${`${at} and ${at * 7}, `.repeat(200).slice(0, 990)}"`;

describe.skipIf(!hasElasticsearch())('needles as long as they may be', () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let index: SyncedIndex;

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    index = createSyncedIndex(database.pool, database.url, rows, await sharedElasticsearch());
    await rows.addBlock([
      { content: text(`{"p":"brc-20","op":${long(1)},"amt":"1","tick":${long(2)}}`), metadata: null },
      {
        content: text(`before ${Array.from({ length: 32 }, (_, at) => long(at)).join(' ')}`),
        metadata: null,
      },
      { content: text(`${long(1).slice(1)} of another beginning`), metadata: null },
    ]);
    await index.catchUp(index.elastic, 100);
  });
  afterAll(async () => {
    await index?.close();
    await database?.drop();
  });

  const found = (engine: SearchEngine, needles: readonly string[]): Promise<readonly number[]> =>
    withSnapshot(
      database.pool,
      async (snapshot) => {
        const page = { page: 1, itemsPerPage: 10 };
        return (await engine.searchText(snapshot, { corpus: 'content', needles, ...page })).keys;
      },
      null,
    );

  test('are found, one and two at a time', async () => {
    expect(await found(index.engine, [long(1)])).toEqual([0, 1]);
    expect(await found(index.engine, [long(1).slice(1)])).toEqual([0, 1, 2]);
    expect(await found(index.engine, [long(2), long(1)])).toEqual([0, 1]);
    expect(await found(index.engine, [`${long(1).slice(0, -2)}x`])).toEqual([]);
  });

  test('that are more clauses than the server takes are said to be too many, or answered by Postgres', async () => {
    const all = Array.from({ length: 32 }, (_, at) => long(at));
    await expect(found(index.engine, all)).rejects.toMatchObject({ code: 'search_too_broad' });
    const problems: unknown[] = [];
    const engine = createFallbackEngine({
      first: index.engine,
      fallback: createPostgresEngine(),
      lagMaxBlocks: 2,
      onChange: (problem) => problems.push(problem),
    });
    expect(await found(engine, all)).toEqual([1]);
    // the failure of one search says nothing about the server
    expect(problems).toEqual([]);
    expect(engine.problem()).toBeNull();
  });
});
