import { spawn } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { createElasticClient, type ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createFallbackEngine } from '#search/sync/fallback-engine.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { createElasticFaults, type ElasticFaults } from '#test/support/elasticsearch/elastic-faults.ts';
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
import {
  createSearchRows,
  type SearchRows,
  type TestInscription,
  text,
} from '#test/support/search/search-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const noHook = (): Promise<void> => Promise.resolve();
const inscriptionOf = (seed: number): TestInscription => ({
  content: text(`text ${seed % 9} ${seed % 4 === 0 ? `of its own ${seed}` : ''}`),
  metadata: seed % 3 === 0 ? `{"trait":"${seed % 4}"}` : null,
});

/**
 * Maximum duration of a test, in ms. A start of the server takes half a minute on a machine that runs other suites too.
 */
const timeout = 400_000;

describe.runIf(hasElasticsearch())('the sync of a search index that fails', { timeout }, () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let server: Elasticsearch;
  let faults: ElasticFaults;
  let through: ElasticClient;
  let index: SyncedIndex;

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    server = await startElasticsearch();
    faults = await createElasticFaults(server.url);
    through = createElasticClient({ url: faults.url, timeoutMs: 5000 });
  });
  beforeEach(async () => {
    faults.decide = () => null;
    await rows.clear();
    for (let height = 0; height < 8; height++) await apply(20, height * 20);
    await index?.close();
    index = createSyncedIndex(database.pool, database.url, rows, server.url);
  });
  afterAll(async () => {
    await index?.close();
    await through?.close();
    await faults?.close();
    await server?.remove();
    await database?.drop();
  });

  const apply = (count: number, seed: number): Promise<number> =>
    rows.addBlock(Array.from({ length: count }, (_, at) => inscriptionOf(seed + at)));

  const follow = (): RunningSync =>
    startSync({ databaseUrl: database.url, elastic: through, prefix: index.prefix });
  const caughtUp = (): Promise<void> => untilCaughtUp(database.pool, index);

  test('resumes after Elasticsearch was killed in the middle of a bulk', async () => {
    const sync = follow();
    await caughtUp();
    let bulks = 0;
    let isDead = false;
    faults.decide = ({ path }) => {
      if (!path.includes('/_bulk') || ++bulks !== 1) return null;
      void delay(2).then(async () => {
        await server.kill();
        isDead = true;
      });
      return null;
    };
    await apply(900, 1000);
    await rows.undoAbove(6, noHook);
    await apply(500, 5000);
    await waitUntil(() => isDead);
    await waitUntil(() => sync.problems.includes('search_engine_unreachable'));
    faults.decide = () => null;
    await apply(30, 9000);
    await server.start();
    await caughtUp();
    await sync.stop();
    await index.expectWhole();
  });

  test('rebuilds the index after it was deleted, while Postgres answers', async () => {
    const sync = follow();
    await caughtUp();
    const engine = createFallbackEngine({
      first: index.engine,
      fallback: createPostgresEngine(),
      lagMaxBlocks: 0,
    });
    const ask = (): Promise<number> =>
      withSnapshot(
        database.pool,
        async (snapshot) => {
          const query = { corpus: 'content', needles: ['text'], page: 1, itemsPerPage: 1 } as const;
          return (await engine.searchText(snapshot, query)).totalItems;
        },
        null,
      );
    expect(await ask()).toBe(160);
    expect(engine.problem()).toBeNull();
    await index.elastic.request({ method: 'DELETE', path: `/${await index.served()}` });
    expect(await ask()).toBe(160);
    await apply(20, 300);
    expect(await ask()).toBe(180);
    await caughtUp();
    await sync.stop();
    await index.expectWhole();
    expect(await ask()).toBe(180);
  });

  test('waits while the index is read-only, as on a full disk, and while the server accepts no more', async () => {
    const sync = follow();
    await caughtUp();
    const served = await index.served();
    const block = (isBlocked: boolean | null): Promise<unknown> =>
      index.elastic.request({
        method: 'PUT',
        path: `/${served}/_settings`,
        body: { 'index.blocks.read_only_allow_delete': isBlocked },
      });
    await block(true);
    await apply(20, 400);
    await waitUntil(() => sync.problems.includes('search_engine_full'));
    await block(null);
    await caughtUp();
    let refused = 0;
    faults.decide = ({ path }) => {
      if (!path.includes('/_bulk') || refused++ >= 5) return null;
      const error = { type: 'es_rejected_execution_exception', reason: 'too much' };
      return refused % 2 === 0
        ? { kind: 'answer', status: 429, body: { error, status: 429 } }
        : {
            kind: 'answer',
            status: 200,
            body: {
              errors: true,
              items: Array.from({ length: 200 }, () => ({ index: { status: 429, error } })),
            },
          };
    };
    await apply(200, 500);
    await caughtUp();
    expect(refused).toBeGreaterThan(5);
    expect(sync.problems).toContain('search_engine_busy');
    await sync.stop();
    await index.expectWhole();
  });

  test('resumes after Elasticsearch was suspended, and answers were lost', async () => {
    const sync = follow();
    await caughtUp();
    server.pause();
    await apply(100, 700);
    await waitUntil(() => sync.problems.includes('search_engine_slow'));
    server.resume();
    await caughtUp();
    faults.decide = ({ index: at }) => (at % 7 === 3 ? { kind: 'lost' } : null);
    for (let round = 0; round < 4; round++) {
      await apply(30, 800 + 30 * round);
      await delay(200);
      if (round % 2 === 0) await rows.undoAbove(rows.height - 2, noHook);
    }
    await delay(500);
    faults.decide = () => null;
    await caughtUp();
    await sync.stop();
    await index.expectWhole();
  });

  test('catches up, through a reorganisation too, after Elasticsearch was restored from an old state', async () => {
    const first = follow();
    await caughtUp();
    await first.stop();
    await server.stop();
    const [data, old] = [join(server.dataDir, 'data'), join(server.dataDir, 'old')];
    await cp(data, old, { recursive: true, preserveTimestamps: true });
    await server.start();
    const second = follow();
    await rows.undoAbove(3, noHook);
    for (let round = 0; round < 8; round++) await apply(15, 1000 + 15 * round);
    await caughtUp();
    await second.stop();
    await index.expectWhole();
    await server.stop();
    await rm(data, { recursive: true });
    await cp(old, data, { recursive: true, preserveTimestamps: true });
    await giveToOwner(old, data);
    await server.start();
    await rows.undoAbove(7, noHook);
    await apply(25, 2000);
    const third = follow();
    await caughtUp();
    await third.stop();
    await index.expectWhole();
  });

  test('makes another index if the served one belongs to another database', async () => {
    const sync = follow();
    await caughtUp();
    const before = await index.served();
    await sync.stop();
    await database.pool.query('UPDATE chain.state SET fingerprint_key = $1', [Buffer.alloc(32, 7)]);
    const other = follow();
    await waitUntil(async () => (await index.served()) !== before);
    await caughtUp();
    await other.stop();
    expect(other.problems).toContain('search_engine_foreign');
    await index.expectWhole();
    const isThere = await index.elastic.request({ method: 'HEAD', path: `/${before}` });
    expect(isThere).toBe(false);
  });

  test('one works and the others wait, and one of them takes over', async () => {
    const first = follow();
    await caughtUp();
    const second = follow();
    await waitUntil(() => second.standby() > 0);
    expect(first.standby()).toBe(0);
    await first.stop();
    await apply(20, 600);
    await caughtUp();
    await second.stop();
    await index.expectWhole();
  });

  test('loses nothing and has nothing twice, no matter how often its process is killed', async () => {
    const program = fileURLToPath(new URL('../support/elasticsearch/sync-process.ts', import.meta.url));
    let steps = 0;
    for (let round = 0; round < 8; round++) {
      const child = spawn(process.execPath, [program, database.url, server.url, index.prefix], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      const begun = new Promise((resolve) => child.stdout.once('data', resolve));
      child.stdout.on('data', () => steps++);
      await Promise.race([begun, ended]);
      for (let block = 0; block < 6; block++) {
        await apply(10 + block, round * 1000 + block * 20);
        await delay((round * 37 + block * 13) % 60);
        if (block % 3 === 2) await rows.undoAbove(rows.height - 1 - (round % 3), noHook);
      }
      child.kill('SIGKILL');
      await ended;
    }
    expect(steps).toBeGreaterThan(8);
    await index.catchUp(index.elastic, 100);
    await index.expectWhole();
  });
});

/** Gives files that root copied to the owner of `like`. */
async function giveToOwner(like: string, folder: string): Promise<void> {
  const { chown, readdir, stat } = await import('node:fs/promises');
  const { uid, gid } = await stat(join(like, '..'));
  for (const path of ['', ...(await readdir(folder, { recursive: true }))])
    await chown(join(folder, path), uid, gid);
}
