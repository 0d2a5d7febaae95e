import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import {
  createSearchIndex,
  mappingVersion,
  pointReadAlias,
  writeAlias,
} from '#search/elastic/server/search-index.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createFallbackEngine } from '#search/sync/fallback-engine.ts';
import { buildIndex } from '#search/sync/index-build.ts';
import { readDatabaseIdentity } from '#search/sync/outbox.ts';
import { placeMarker } from '#search/sync/placed-marker.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  type Elasticsearch,
  hasElasticsearch,
  startElasticsearch,
} from '#test/support/elasticsearch/elasticsearch.ts';
import {
  type RunningSync,
  startSync,
  caughtUp as untilCaughtUp,
} from '#test/support/elasticsearch/running-sync.ts';
import { createSyncedIndex, type SyncedIndex } from '#test/support/elasticsearch/synced-index.ts';
import { createSearchRows, type SearchRows, text } from '#test/support/search/search-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const timeout = 400_000;
const keep = (): Promise<void> => Promise.resolve();

describe.runIf(hasElasticsearch())('an index that another one replaced', { timeout }, () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let server: Elasticsearch;
  let index: SyncedIndex;

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    server = await startElasticsearch({ hasSnapshots: true });
  });
  beforeEach(async () => {
    await rows.clear();
    for (let height = 0; height < 8; height++) await apply(20, height * 20);
    await index?.close();
    index = createSyncedIndex(database.pool, database.url, rows, server.url);
  });
  afterAll(async () => {
    await index?.close();
    await server?.remove();
    await database?.drop();
  });

  const apply = (count: number, seed: number): Promise<number> =>
    rows.addBlock(
      Array.from({ length: count }, (_, at) => ({
        content: text(`text ${(seed + at) % 9} ${(seed + at) % 4 === 0 ? seed + at : ''}`),
        metadata: (seed + at) % 3 === 0 ? `{"trait":"${at % 4}"}` : null,
      })),
    );
  const follow = (): RunningSync =>
    startSync({ databaseUrl: database.url, elastic: index.elastic, prefix: index.prefix });
  const caughtUp = (): Promise<void> => untilCaughtUp(database.pool, index);
  const ask = (): Promise<number> => {
    const engine = createFallbackEngine({
      first: index.engine,
      fallback: createPostgresEngine(),
      lagMaxBlocks: 0,
    });
    return withSnapshot(
      database.pool,
      async (snapshot) => {
        const query = { corpus: 'content', needles: ['text'], page: 1, itemsPerPage: 1 } as const;
        return (await engine.searchText(snapshot, query)).totalItems;
      },
      null,
    );
  };

  /** Takes a snapshot of the index that serves searches. Returns a function that restores the snapshot. */
  const snapshotServed = async (): Promise<() => Promise<void>> => {
    const served = await index.served();
    const request = (method: 'PUT' | 'POST', path: string, body: object): Promise<unknown> =>
      index.elastic.request({ method, path, body, query: { wait_for_completion: true }, timeoutMs: 60_000 });
    await index.elastic.request({
      method: 'PUT',
      path: `/_snapshot/${index.prefix}`,
      body: { type: 'fs', settings: { location: index.prefix } },
    });
    await request('PUT', `/_snapshot/${index.prefix}/one`, { indices: served, include_global_state: false });
    return async () => {
      await request('POST', `/_snapshot/${index.prefix}/one/_restore`, {
        indices: served,
        include_global_state: false,
      });
    };
  };

  test('an old snapshot resumes from its state, through a later reorganisation', async () => {
    const first = follow();
    await caughtUp();
    await first.stop();
    const restore = await snapshotServed();
    await rows.undoAbove(3, keep);
    for (let round = 0; round < 6; round++) await apply(15, 1000 + 15 * round);
    await index.catchUp(index.elastic, 50);
    await index.elastic.request({ method: 'DELETE', path: `/${await index.served()}` });
    await restore();
    await rows.undoAbove(6, keep);
    await apply(25, 2000);
    expect(await ask()).toBe(rows.inscriptions.length);
    const second = follow();
    await caughtUp();
    await second.stop();
    expect(second.problems).not.toContain('search_engine_foreign');
    await index.expectWhole();
  });

  test('an old snapshot beside one that was rebuilt meanwhile is not used', async () => {
    const sync = follow();
    await caughtUp();
    const restore = await snapshotServed();
    const before = await index.served();
    const chain = await connectClient(database.url);
    const { elastic, prefix } = index;
    const { signal } = new AbortController();
    const shape = { network: 'regtest', shards: 1, replicas: 0 } as const;
    const made = await buildIndex({ ...shape, elastic, prefix, chain, signal });
    await chain.end();
    await restore();
    expect(made).not.toBe(before);
    expect(await ask()).toBe(rows.inscriptions.length);
    await apply(20, 400);
    await waitUntil(async () => (await index.served()) === made);
    await caughtUp();
    await sync.stop();
    await index.expectWhole();
    await index.elastic.request({ method: 'DELETE', path: `/${before}` });
  });

  test('one that was wiped with the whole server is rebuilt, while Postgres answers', async () => {
    const sync = follow();
    await caughtUp();
    await server.kill();
    for (const name of await readdir(join(server.dataDir, 'data'))) {
      await rm(join(server.dataDir, 'data', name), { recursive: true });
    }
    await apply(20, 500);
    expect(await ask()).toBe(rows.inscriptions.length);
    await server.start();
    await caughtUp();
    await sync.stop();
    await index.expectWhole();
  });

  test('for one of older documents, Postgres answers until the next one is complete beside it', async () => {
    const old = `${index.alias}-v1-1`;
    await createSearchIndex(index.elastic, old, { shards: 1, replicas: 0, loading: false });
    const database_ = (await readDatabaseIdentity(database.pool))!;
    expect(database_).toContain(`-v${mappingVersion}-`);
    await placeMarker(
      index.elastic,
      old,
      {
        state: 'complete',
        rewinds: 0,
        database: database_.replace(`-v${mappingVersion}-`, `-v${mappingVersion - 1}-`),
        epoch: 0,
        sequence: 1,
        tip: null,
        nextKey: 0,
        phrases: [],
        isMerged: false,
      },
      null,
    );
    await pointReadAlias(index.elastic, index.alias, old);
    expect(await ask()).toBe(rows.inscriptions.length);
    const sync = follow();
    await caughtUp();
    await sync.stop();
    expect(sync.problems).toContain('search_engine_foreign');
    expect(await index.served()).toBe(`${index.alias}-v${mappingVersion}-2`);
    await expect(
      index.elastic.request({ method: 'GET', path: `/${writeAlias(old)}/_doc/marker` }),
    ).rejects.toMatchObject({ code: 'search_engine_missing' });
    await index.expectWhole();
  });
});
