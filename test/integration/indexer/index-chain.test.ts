import { join } from 'node:path';
import type pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { dumpChain } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { indexFolder, indexTests } from '#test/support/chain/index-tests.ts';
import type { TestDatabase } from '#test/support/database.ts';

const samples = join(import.meta.dirname, '../../../samples');
const { freshDatabase, folderOf } = indexTests();
let database: TestDatabase;
beforeEach(async () => {
  database = await freshDatabase();
});

describe('indexing a chain', () => {
  test('ends at its tip, with all indexes, and a second run does nothing', async () => {
    const golden = new GoldenChain('mixed-1');
    const dir = folderOf(golden);
    const summary = await indexFolder(database.pool, dir);
    expect(summary).toMatchObject({
      height: golden.chain.headers.length - 1,
      hash: golden.chain.tip,
      undoneAbove: null,
      blocks: golden.chain.headers.length,
      inscriptions: golden.chain.counts.inscriptions,
    });
    const client = await database.pool.connect();
    expect(await missingIndexes(client)).toEqual([]);
    client.release();
    const dump = await dumpChain(database.pool);
    expect(await indexFolder(database.pool, dir)).toMatchObject({
      blocks: 0,
      undoneAbove: null,
      hash: golden.chain.tip,
    });
    expect(await dumpChain(database.pool)).toEqual(dump);
  });

  // test/integration/golden.test.ts shows the same for the other chains
  test('gives the same rows of a chain in batches of any size, and with restarts between', async () => {
    const dir = folderOf(new GoldenChain('mixed-2'));
    await indexFolder(database.pool, dir);
    const expected = await dumpChain(database.pool);
    for (const blocksMax of [1, 7]) {
      const other = await freshDatabase();
      await indexFolder(other.pool, dir, { bounds: { blocksMax }, threads: 2 });
      expect(await dumpChain(other.pool)).toEqual(expected);
    }
    const restarted = await freshDatabase();
    for (let until = 20; until < 220; until += 37) {
      await indexFolder(restarted.pool, dir, { until: asHeight(until), bounds: { blocksMax: 5 } });
    }
    expect(await dumpChain(restarted.pool)).toEqual(expected);
  });

  test('gives the same rows of a folder with gaps in batches of any size', async () => {
    const dir = join(samples, 'mainnet');
    const whole = await freshDatabase('mainnet');
    await indexFolder(whole.pool, dir);
    const single = await freshDatabase('mainnet');
    for (const until of [780_004, 831_331, 1_000_000]) {
      await indexFolder(single.pool, dir, { until: asHeight(until), bounds: { blocksMax: 1 } });
    }
    expect(await dumpChain(single.pool)).toEqual(await dumpChain(whole.pool));
    const { rows } = await whole.pool.query<{ height: number; anchored: boolean; sequence: number | null }>(
      'SELECT height, anchored, sequence FROM chain.blocks WHERE height IN (767430, 778163, 832918) ORDER BY height',
    );
    expect(rows).toEqual([
      { height: 767430, anchored: true, sequence: 1 },
      { height: 778163, anchored: false, sequence: null },
      { height: 832918, anchored: false, sequence: 63577119 + 1006 },
    ]);
  });

  test('reports its progress from the first block to the last', async () => {
    const golden = new GoldenChain('sats-1');
    const seen: { blocks: number; blocksTotal: number; inscriptions: number }[] = [];
    await indexFolder(database.pool, folderOf(golden), {
      bounds: { blocksMax: 50 },
      onProgress: (progress) => seen.push(progress),
    });
    const total = golden.chain.headers.length;
    expect(seen.map(({ blocks }) => blocks)).toEqual([0, 50, 100, 150, total]);
    expect(seen.every(({ blocksTotal }) => blocksTotal === total)).toBe(true);
    expect(seen.at(-1)?.inscriptions).toBe(golden.chain.counts.inscriptions);
  });

  test('stops early for a signal, with whole blocks, and resumes later', async () => {
    const golden = new GoldenChain('mixed-1');
    const dir = folderOf(golden);
    const controller = new AbortController();
    const summary = await indexFolder(database.pool, dir, {
      bounds: { blocksMax: 10 },
      signal: controller.signal,
      onProgress: ({ blocks }) => {
        if (blocks >= 40) controller.abort();
      },
    });
    expect(summary.blocks).toBeGreaterThanOrEqual(40);
    expect(summary.blocks).toBeLessThan(golden.chain.headers.length);
    await indexFolder(database.pool, dir);
    const other = await freshDatabase();
    await indexFolder(other.pool, dir);
    expect(await dumpChain(database.pool)).toEqual(await dumpChain(other.pool));
  });

  test('takes as many statements for a batch of many blocks as for one of few', async () => {
    const dir = folderOf(new GoldenChain('mixed-1'));
    const counts: number[] = [];
    // both databases have rows in every table
    for (const until of [160, 174]) {
      const other = await freshDatabase();
      const statements = countStatements(other.pool);
      await indexFolder(other.pool, dir, { until: asHeight(until) });
      counts.push(statements());
    }
    // the statements are: claiming, planning, loading, one batch, and the missing indexes
    expect(counts[1]).toBe(counts[0]);
    const batched = await freshDatabase();
    await indexFolder(batched.pool, dir, { until: asHeight(159) });
    const statements = countStatements(batched.pool);
    await indexFolder(batched.pool, dir, { bounds: { blocksMax: 5 } });
    // 15 blocks in three batches need at most eleven statements, six statements of runes and four queries each. Around
    // the batches there are 20 statements, and three for each kind of event, whose hash chain continues or begins again
    expect(statements()).toBeLessThanOrEqual(3 * (11 + 6 + 4) + 20 + 3 * 3);
  });
});

/**
 * Statements of index builds. They are left out, because the number of connections, with their settings and locks,
 * depends on the machine.
 */
const ofIndexBuild = /^\s*(?:SET|RESET|ANALYZE|CREATE|BEGIN|COMMIT|SELECT (?:set_config|pg_))/u;

/** Statements of the follower's reports. They are left out, because their number depends on time. */
const ofReport = /^\s*INSERT INTO chain\.follower_status\b/u;

/**
 * Counts the statements on connections that a pool opens from now on. Statements that build indexes or report are left
 * out.
 */
function countStatements(pool: pg.Pool): () => number {
  let statements = 0;
  pool.on('connect', (client) => {
    const counted = client as unknown as { query: (...values: unknown[]) => unknown };
    const query = counted.query.bind(client);
    counted.query = (...values) => {
      const [first] = values as [string | { readonly text: string }];
      const text = typeof first === 'string' ? first : first.text;
      if (!ofIndexBuild.test(text) && !ofReport.test(text)) statements++;
      return query(...values);
    };
  });
  return () => statements;
}
test('texts above the limit are kept, and not made searchable', async () => {
  const dir = folderOf(new GoldenChain('mixed-1'));
  await indexFolder(database.pool, dir, { textMaxBytes: 40 });
  const { rows } = await database.pool.query<{ texts: number; longest: number; longer: number }>(
    `SELECT count(*) FILTER (WHERE text > 0) AS texts, max(length(body)) FILTER (WHERE text > 0) AS longest,
       count(*) FILTER (WHERE length(body) > 40 AND variant = 8) AS longer FROM chain.contents`,
  );
  const { texts, longest, longer } = rows[0]!;
  expect(texts).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(40);
  expect(longer).toBeGreaterThan(0);
});
