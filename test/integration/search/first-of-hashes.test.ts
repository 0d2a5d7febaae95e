import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { listBytesOf } from '#search/records/records.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { createSearchRows, text } from '#test/support/search/search-rows.ts';

const copies = 30_000;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const rows = await createSearchRows(database.pool);
  await rows.addBlock([{ content: text('alone'), metadata: null }]);
  const many = { content: text('copied'), metadata: null };
  await rows.addBlock([many]);
  // the copies of one content, with the same rows as the writer makes
  await database.pool.query(
    `INSERT INTO chain.inscriptions (key, txid, index, height, tx_index, input, content_id, content_type, flags)
     SELECT 2 + n, sha256(('copy ' || n)::bytea), 0, first.height, 1, 0, first.content_id, first.content_type, 0
     FROM generate_series(0, ${copies - 1}) AS n, (SELECT * FROM chain.inscriptions WHERE key = 1) AS first`,
  );
  const client = await database.pool.connect();
  await ensureSecondaryIndexes(client);
  await client.query('ANALYZE');
  client.release();
});
afterAll(() => database.drop());

const entriesRead = async (): Promise<number> => {
  const { rows } = await database.pool.query<{ read: number }>(
    `SELECT pg_stat_force_next_flush(), coalesce(sum(idx_tup_read), 0)::bigint AS read
     FROM pg_stat_user_indexes WHERE relname = 'inscriptions'`,
  );
  return rows[0]?.read ?? 0;
};

describe('the first inscription of a content', () => {
  test('is found without reading the others', async () => {
    const pool = createPool(database.url, { max: 1 });
    const service = createSearchService({ pool, engine: createPostgresEngine() });
    const hashes = ['alone', 'copied', 'unknown'].map((word) => createHash('sha256').update(word).digest());
    const before = await entriesRead();
    const { value } = await service.hashes(hashes);
    expect(value.map(({ first }) => first?.inscriptionid.slice(-2) ?? null)).toEqual(['i0', 'i0', null]);
    const keys = await database.pool.query<{ key: number }>(
      'SELECT key FROM chain.inscriptions WHERE txid = ANY($1) ORDER BY key',
      [value.map(({ first }) => Buffer.from(first?.txid ?? '', 'hex').reverse())],
    );
    expect(keys.rows).toEqual([{ key: 0 }, { key: 1 }]);
    // on the connection that searched, because it reports its statistics before it ends
    await pool.query('SELECT pg_stat_force_next_flush()');
    await pool.end();
    expect((await entriesRead()) - before).toBeLessThan(copies / 100);
  });
});

describe('the first keys of contents', () => {
  test.each(['mixed-1', 'reorg-1'])(
    'are those of their first inscriptions, over reorganisations: %s',
    async (name) => {
      const golden = new GoldenChain(name);
      const folder = await mkdtemp(join(tmpdir(), 'satscribe-first-'));
      const indexed = await createTestDatabase();
      try {
        golden.writeFolder(folder);
        for (const { tip } of golden.tips().toReversed()) {
          const source = await openFolderSource(folder, { tip });
          const { signal } = new AbortController();
          await follow({
            source,
            pool: indexed.pool,
            signal,
            threads: parseThreads(),
            bounds: { blocksMax: 7 },
          });
          const { rows } = await indexed.pool.query<{ contents: number; wrong: number }>(
            `SELECT count(*) AS contents, count(*) FILTER (WHERE c.first_key IS DISTINCT FROM
             (SELECT min(key) FROM chain.inscriptions i WHERE i.content_id = c.content_id)) AS wrong
           FROM chain.contents c`,
          );
          expect(rows[0]?.wrong).toBe(0);
          expect(rows[0]?.contents).toBeGreaterThan(20);
        }
      } finally {
        await indexed.drop();
        await rm(folder, { recursive: true });
      }
    },
    60_000,
  );
});

describe('metadata of a page', () => {
  test('is cut so that all of it together has a bound', () => {
    expect(listBytesOf(1)).toEqual({ content: 4096, metadata: 65_536 });
    expect(listBytesOf(256)).toEqual({ content: 4096, metadata: 65_536 });
    expect(listBytesOf(1_000)).toEqual({ content: 4096, metadata: 16_777 });
  });
});
