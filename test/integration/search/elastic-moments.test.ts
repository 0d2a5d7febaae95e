import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { SearchEngine, SearchHits } from '#kernel/contracts/search-engine.ts';
import { asBlockHashHex, type BlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { bulkDocuments } from '#search/elastic/documents/bulk-documents.ts';
import { type SearchDocument, tombstone } from '#search/elastic/documents/group-document.ts';
import { createElasticEngine } from '#search/elastic/elastic-engine.ts';
import { createElasticClient, type ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { type Marker, readMarker, writeMarker } from '#search/elastic/server/marker.ts';
import {
  createSearchIndex,
  indexName,
  pointReadAlias,
  readAlias,
  refreshIndex,
} from '#search/elastic/server/search-index.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';
import { createSearchRows, type SearchRows, text } from '#test/support/search/search-rows.ts';

const keep = (): Promise<void> => Promise.resolve();

/** A block that the chain does not have. */
const otherHash = asBlockHashHex('77'.repeat(32));

describe.skipIf(!hasElasticsearch())('the moment that an answer speaks of', () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let client: ElasticClient;
  let engine: SearchEngine;
  let made = 0;
  const prefix = `test-moments-${process.pid}-${Date.now().toString(36)}`;
  const alias = readAlias(prefix, 'regtest');
  let index = '';

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    client = createElasticClient({ url: await sharedElasticsearch() });
  });
  /** Three blocks of one text each in Postgres, and an index without a marker. */
  beforeEach(async () => {
    await rows.clear();
    for (let height = 0; height < 3; height++) {
      await rows.addBlock([{ content: text(`word ${height}`), metadata: null }]);
    }
    await newIndex();
    engine = createElasticEngine({ client, alias, readDatabase: () => Promise.resolve('ours') });
  });
  afterAll(async () => {
    await client?.request({ method: 'DELETE', path: `/${index}` }).catch(() => undefined);
    await client?.close();
    await database?.drop();
  });

  const newIndex = async (): Promise<void> => {
    const old = index;
    index = indexName(prefix, 'regtest', ++made);
    await createSearchIndex(client, index, { shards: 2, replicas: 0, loading: false });
    await pointReadAlias(client, alias, index);
    if (old !== '') await client.request({ method: 'DELETE', path: `/${old}` });
  };
  const documentAt = (key: number, version = 1): SearchDocument => ({
    id: String(key),
    version,
    source: { firstKey: key, count: 1, keys: [key], member: [{ key }], text: 'word\0\0' },
  });
  const write = async (...documents: SearchDocument[]): Promise<void> => {
    await bulkDocuments(client, index, documents);
    await refreshIndex(client, index);
  };
  /** The marker of a block of the current chain. */
  const mark = async (height: number, changed: Partial<Marker> = {}): Promise<void> => {
    const { rows: found } = await database.pool.query<{ hash: BlockHash; undo_epoch: number }>(
      'SELECT hash, undo_epoch FROM chain.blocks, chain.state WHERE height = $1',
      [height],
    );
    const { hash, undo_epoch: epoch } = found[0]!;
    await writeMarker(client, index, {
      state: 'complete',
      database: 'ours',
      rewinds: 0,
      epoch,
      sequence: height + 1,
      tip: { height: asHeight(height), hash: displayHash(hash) },
      nextKey: height + 1,
      phrases: [],
      isMerged: false,
      ...changed,
    });
  };
  const search = (page = 1, itemsPerPage = 10): Promise<SearchHits> =>
    withSnapshot(
      database.pool,
      (snapshot) => engine.searchText(snapshot, { corpus: 'content', needles: ['word'], page, itemsPerPage }),
      null,
    );
  const outcome = async (): Promise<unknown> =>
    search().then(
      ({ keys, totalItems, tip }) => ({ keys, totalItems, height: tip?.height }),
      (error: unknown) => (error as { code?: string }).code ?? String(error),
    );

  test('documents beyond the marker are not found, and the answer names the block that it goes to', async () => {
    await write(documentAt(0), documentAt(1), documentAt(2));
    await mark(1);
    expect(await outcome()).toEqual({ keys: [0, 1], totalItems: 2, height: 1 });
    await mark(2);
    expect(await outcome()).toEqual({ keys: [0, 1, 2], totalItems: 3, height: 2 });
  });

  test('without a marker, without a block, and without an index nothing is answered', async () => {
    await write(documentAt(0));
    expect(await outcome()).toBe('search_engine_behind');
    await mark(0, { tip: null, nextKey: 0 });
    expect(await outcome()).toBe('search_engine_behind');
    await client.request({ method: 'DELETE', path: `/${index}` });
    expect(await outcome()).toBe('search_engine_missing');
    await expect(mark(0)).rejects.toMatchObject({ code: 'search_engine_missing' });
    await expect(bulkDocuments(client, index, [documentAt(0)])).rejects.toMatchObject({
      code: 'search_engine_missing',
    });
    index = '';
    await newIndex();
    expect(await readMarker(client, alias)).toBeNull();
  });

  test.each([
    ['while blocks are taken back', { state: 'undoing' }],
    ['of another database', { database: 'theirs' }],
    ['of another epoch of undos', { epoch: -1 }],
    ['of a block that is not in the chain', { tip: { height: asHeight(1), hash: otherHash } }],
    ['of a block with other keys', { nextKey: 1 }],
    ['of a block above the chain', { tip: { height: asHeight(9), hash: otherHash } }],
  ] as const)('an index %s gives no answer', async (_, changed) => {
    await write(documentAt(0), documentAt(1));
    await mark(1, changed);
    expect(await outcome()).toBe('search_engine_behind');
    await mark(1);
    expect(await outcome()).toEqual({ keys: [0, 1], totalItems: 2, height: 1 });
  });

  test('an answer for a chain stays while the index already goes back, but is not given for the chain after it', async () => {
    await write(documentAt(0), documentAt(1), documentAt(2));
    await mark(2);
    expect(await outcome()).toEqual({ keys: [0, 1, 2], totalItems: 3, height: 2 });
    await mark(2, { state: 'undoing' });
    await write(tombstone('2', 9));
    // Postgres still has the old chain, so the moment that was opened then is of the old chain
    expect(await outcome()).toEqual({ keys: [0, 1, 2], totalItems: 3, height: 2 });
    await rows.undoAbove(1, keep);
    expect(await outcome()).toBe('search_engine_behind');
    await mark(1, { rewinds: 1, sequence: 9 });
    expect(await outcome()).toEqual({ keys: [0, 1], totalItems: 2, height: 1 });
    await rows.addBlock([{ content: text('word again'), metadata: null }]);
    await write(documentAt(2, 10));
    await mark(2, { rewinds: 1, sequence: 10 });
    expect(await outcome()).toEqual({ keys: [0, 1, 2], totalItems: 3, height: 2 });
  });

  test('another index of the alias is asked as soon as the old one is deleted', async () => {
    await write(documentAt(0), documentAt(1), documentAt(2));
    await mark(2);
    expect(await outcome()).toEqual({ keys: [0, 1, 2], totalItems: 3, height: 2 });
    await newIndex();
    expect(await outcome()).toBe('search_engine_behind');
    await write(documentAt(0), documentAt(1));
    await mark(1);
    expect(await outcome()).toEqual({ keys: [0, 1], totalItems: 2, height: 1 });
  });

  test('many searches at once share what is opened, and each answer is whole', async () => {
    await write(documentAt(0), documentAt(1), documentAt(2));
    await mark(2);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => search((at % 3) + 1, 1)));
    expect(answers.map(({ keys }) => keys)).toEqual(Array.from({ length: 20 }, (_, at) => [at % 3]));
  });
});
