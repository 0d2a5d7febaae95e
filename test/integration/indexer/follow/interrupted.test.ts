import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ensureSecondaryIndexes, missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { dumpChain, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const golden = new GoldenChain('mixed-2');
const databases: TestDatabase[] = [];
let dir: string;

let cleanRows: Record<string, string[]>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satscribe-interrupted-'));
  golden.writeFolder(dir);
  const clean = await freshDatabase();
  await index(clean);
  cleanRows = await dumpChain(clean.pool);
});
afterEach(async () => {
  for (const made of databases.splice(0)) await made.drop();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function freshDatabase(): Promise<TestDatabase> {
  const made = await createTestDatabase();
  databases.push(made);
  await pinFingerprintKey(made.pool, 'regtest');
  return made;
}

async function index(database: TestDatabase, options: Partial<FollowOptions> = {}): Promise<void> {
  const source = await openFolderSource(dir);
  const { pool } = database;
  await follow({ source, pool, signal: new AbortController().signal, threads: parseThreads(), ...options });
}

describe('a run that is interrupted', () => {
  test.each([20, 90, 140])(
    'by the end of its connections at block %i has whole blocks, and the next run resumes',
    async (at) => {
      const database = await freshDatabase();
      const ended: Promise<unknown>[] = [];
      const run = index(database, {
        bounds: { blocksMax: 3 },
        retryBudgetMs: 0,
        onProgress: ({ blocks }) => {
          if (blocks < at || ended.length > 0) return;
          const ending = database.pool.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`,
          );
          ended.push(ending);
        },
      });
      await expect(run).rejects.toMatchObject({ code: 'postgres_lost' });
      await Promise.all(ended);
      const { rows } = await database.pool.query<{ tip_height: number; top: number }>(
        'SELECT tip_height, (SELECT max(height) FROM chain.blocks) AS top FROM chain.state',
      );
      expect(rows[0]?.tip_height).toBe(rows[0]?.top);
      expect(rows[0]?.tip_height).toBeGreaterThanOrEqual(at - 1);
      await index(database, { bounds: { blocksMax: 3 } });
      expect(await dumpChain(database.pool)).toEqual(cleanRows);
    },
  );

  test('before it begins does nothing', async () => {
    const database = await freshDatabase();
    await expect(index(database, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect((await dumpChain(database.pool))['chain.blocks']).toEqual([]);
  });
});

describe('data that memory forgot', () => {
  test('is read from the database: tiny caches give the same rows', async () => {
    for (const until of [200, 150]) {
      const database = await freshDatabase();
      // index everything at once, or with a second start in the middle, when memory is read from the tables
      await index(database, { until: asHeight(until), bounds: { cacheEntries: 2, blocksMax: 4 } });
      await index(database, { bounds: { cacheEntries: 2, blocksMax: 4 } });
      expect(await dumpChain(database.pool)).toEqual(cleanRows);
    }
  });
});

describe('secondary indexes', () => {
  test('are built once, and only if missing', async () => {
    const database = await freshDatabase();
    const client = await database.pool.connect();
    const all = await missingIndexes(client);
    expect(all.length).toBeGreaterThan(8);
    expect(await ensureSecondaryIndexes(client, { wanted: ['blocks_hash'] })).toEqual(['blocks_hash']);
    expect(await ensureSecondaryIndexes(client)).toEqual(all.filter((name) => name !== 'blocks_hash'));
    expect(await ensureSecondaryIndexes(client)).toEqual([]);
    client.release();
  });

  test('are built by the first of two processes that need them at once; the other one waits', async () => {
    const { pool } = await freshDatabase();
    // add enough rows that both builds overlap
    await pool.query(
      `INSERT INTO chain.locations (key, height, step, place, sat_offset)
       SELECT key, 1, 0, 1, 0 FROM generate_series(1, 100000) AS key`,
    );
    const clients = [await pool.connect(), await pool.connect()];
    const built = await Promise.allSettled(
      clients.map((client) => ensureSecondaryIndexes(client, { wanted: ['locations_outside'] })),
    );
    const missing = await missingIndexes(clients[0]!);
    for (const client of clients) client.release();
    expect(built.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(missing).not.toContain('locations_outside');
  });

  test('are built over several connections at once, and their tables analysed', async () => {
    const { pool } = await freshDatabase();
    await pool.query(
      `INSERT INTO chain.locations (key, height, step, place, sat_offset)
       SELECT key, 1, 0, 1, 0 FROM generate_series(1, 1000) AS key`,
    );
    const client = await pool.connect();
    const all = await missingIndexes(client);
    expect(await ensureSecondaryIndexes(client, { pool })).toEqual(all);
    expect(await missingIndexes(client)).toEqual([]);
    const { rows } = await client.query(
      "SELECT reltuples FROM pg_class WHERE oid = 'chain.locations'::regclass",
    );
    expect(rows).toEqual([{ reltuples: 1000 }]);
    const { rows: distinct } = await client.query(
      `SELECT array_length(histogram_bounds::text::integer[], 1) AS bounds, current_setting('default_statistics_target') AS target
         FROM pg_stats WHERE schemaname = 'chain' AND tablename = 'locations' AND attname = 'key'`,
    );
    // this is the target for a small table; the connection keeps its own setting
    expect(distinct).toEqual([{ bounds: 26, target: '100' }]);
    client.release();
  });

  test('that cannot be built end all builds with the error, and the connections stay usable', async () => {
    const { pool } = await freshDatabase();
    await pool.query(
      `INSERT INTO chain.metadata_texts (metadata_id, sha256, json)
       SELECT id, '\\x00', '1' FROM generate_series(1, 2) AS id`,
    );
    const client = await pool.connect();
    await expect(ensureSecondaryIndexes(client, { pool })).rejects.toMatchObject({ code: '23505' });
    expect(await missingIndexes(client)).toContain('metadata_texts_sha256');
    await pool.query('DELETE FROM chain.metadata_texts');
    await ensureSecondaryIndexes(client, { pool });
    expect(await missingIndexes(client)).toEqual([]);
    client.release();
  });

  test.each([
    ['that a first load does not need itself are built at its end', {}, true],
    // with small batches, the rows of the last two batches are always in memory, and are never queried
    ['that it needs exist as soon as memory lacks an answer', { cacheEntries: 2, blocksMax: 2 }, false],
  ])('%s', async (_, caches, isLate) => {
    const database = await freshDatabase();
    const client = await database.pool.connect();
    let early: readonly string[] = [];
    const looking: Promise<void>[] = [];
    await index(database, {
      bounds: { blocksMax: 10, ...caches },
      onProgress: ({ blocks }) => {
        if (blocks < 150 || looking.length > 0) return;
        const look = missingIndexes(client).then((missing) => {
          early = missing;
        });
        looking.push(look);
      },
    });
    await Promise.all(looking);
    const late = await missingIndexes(client);
    client.release();
    expect(early).toContain('inscriptions_id');
    // blocks spend outputs of earlier blocks
    expect(early.includes('locations_outpoint')).toBe(isLate);
    expect(late).toEqual([]);
  });
});
