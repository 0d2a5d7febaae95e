import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { TextMatches } from '#kernel/contracts/search-engine.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  type Elasticsearch,
  hasElasticsearch,
  startElasticsearch,
} from '#test/support/elasticsearch/elasticsearch.ts';
import { caughtUp, startSync } from '#test/support/elasticsearch/running-sync.ts';
import { createSyncedIndex, type SyncedIndex } from '#test/support/elasticsearch/synced-index.ts';
import { createSearchRows, type SearchRows, type TestContent } from '#test/support/search/search-rows.ts';

const textMax = 4_000_000;

/** Makes a text of this size in bytes, in which no word is repeated. */
function distinctWords(mark: string, size: number): string {
  const words: string[] = [];
  for (let length = 0; length < size; ) {
    const word = `${mark}${words.length.toString(36)}`;
    words.push(word);
    length += word.length + 1;
  }
  return words.join(' ').slice(0, size);
}

function packed(text: string): TestContent {
  const decoded = Buffer.from(text);
  return { type: 'text/plain', body: gzipSync(decoded), text, encoding: 2, decoded };
}

describe.runIf(hasElasticsearch())(
  'the largest documents that a block has room for',
  { timeout: 400_000 },
  () => {
    let database: TestDatabase;
    let rows: SearchRows;
    let server: Elasticsearch;
    let index: SyncedIndex;

    beforeAll(async () => {
      database = await createTestDatabase();
      rows = await createSearchRows(database.pool);
      server = await startElasticsearch({ heapMegabytes: 1024 });
      index = createSyncedIndex(database.pool, database.url, rows, { url: server.url, timeoutMs: 120_000 });
    });
    afterAll(async () => {
      await index?.close();
      await server?.remove();
      await database?.drop();
    });

    const totalOf = (matches: Omit<TextMatches, 'corpus'> & Partial<TextMatches>): Promise<number> =>
      withSnapshot(
        database.pool,
        async (snapshot) => {
          const query = { corpus: 'content', page: 1, itemsPerPage: 1, ...matches } as const;
          return (await index.engine.searchText(snapshot, query)).totalItems;
        },
        null,
      );

    test('are written by a server with a heap of 1 GB, and found by everything that they contain', async () => {
      const traits = Array.from({ length: 500_000 }, (_, at) => `"${at}":${at % 10}`).join(',');
      const listed = Array.from({ length: 140_000 }, (_, at) => at).join(',');
      await rows.addBlock([
        {
          content: packed(`${distinctWords('a', textMax - 5)} last`),
          metadata: `"${'\\"'.repeat(textMax / 2 - 10)}end"`,
          properties: `{"gallery":[],"attributes":{"title":null,"traits":{${traits}}}}`,
        },
        {
          content: packed(`${'\u0001"\\'.repeat(1_333_332)}last`),
          metadata: `{"${'k'.repeat(64)}":[${listed}]}`,
          properties: `{"gallery":[],"attributes":{"title":${JSON.stringify(`${'"'.repeat(1_999_000)}end`)},"traits":{}}}`,
        },
      ]);
      await rows.addBlock([{ content: packed('after them'), metadata: null }]);
      const sync = startSync({
        databaseUrl: database.url,
        elastic: index.elastic,
        prefix: index.prefix,
        loadKeysMax: 1000,
        keysMax: 1000,
      });
      await caughtUp(database.pool, index, 200_000);
      await sync.stop();
      expect(sync.problems).not.toContain('search_engine_rejected');
      expect(await totalOf({ needles: ['behind'] })).toBe(1);
      expect(await totalOf({ needles: ['last'] })).toBe(2);
      expect(await totalOf({ needles: ['last'], match: 'words' })).toBe(2);
      expect(await totalOf({ needles: ['\u0001"\\\u0001', '\\last'] })).toBe(1);
      expect(await totalOf({ needles: ['\\"end"'], corpus: 'metadata' })).toBe(1);
      // ADR 32: if an inscription has more than 256 traits, none is found; only the first 1,000 units of a title are
      // searched
      expect(await totalOf({ needles: [], filter: { traits: [{ name: '499999', value: '9' }] } })).toBe(0);
      expect(await totalOf({ needles: [], filter: { title: '""end' } })).toBe(0);
      expect(await totalOf({ needles: [], filter: { title: '""' } })).toBe(1);
      const key = 'K'.repeat(64);
      expect(await totalOf({ needles: [], filter: { metadata: { key, value: '139999' } } })).toBe(1);
      expect(await totalOf({ needles: [], filter: { metadata: { key, value: '140000' } } })).toBe(0);
    });
  },
);
