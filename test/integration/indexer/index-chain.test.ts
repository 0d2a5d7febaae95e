import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { undoAbove } from '#indexer/apply/undo.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions, IndexSummary } from '#indexer/follow/follow-options.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { BlockBuilder, mineHeader, regtestGenesis } from '#test/builders/block.ts';
import { BlockFolder } from '#test/builders/block-folder.ts';
import { dumpChain, holdWriterLock, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden-chain.ts';
import {
  createFilledDatabase,
  createTestDatabase,
  type FilledDatabase,
  type TestDatabase,
} from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const samples = join(import.meta.dirname, '../../../samples');
let root: string;
let database: TestDatabase;
const databases: TestDatabase[] = [];

const freshDatabase = async (network = 'regtest'): Promise<TestDatabase> => {
  const made = await createTestDatabase();
  databases.push(made);
  await pinFingerprintKey(made.pool, network);
  return made;
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-index-'));
});
beforeEach(async () => {
  database = await freshDatabase();
});
afterEach(async () => {
  for (const made of databases.splice(0)) await made.drop();
});
afterAll(() => rm(root, { recursive: true, force: true }));

let made = 0;
function folderOf(golden: GoldenChain): string {
  const dir = join(root, `folder-${made++}`);
  golden.writeFolder(dir);
  return dir;
}

async function index(
  pool: pg.Pool,
  dir: string,
  options: Partial<FollowOptions> & { readonly tip?: string } = {},
): Promise<IndexSummary> {
  const { tip, ...others } = options;
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  return follow({ source, pool, signal: new AbortController().signal, threads: parseThreads(), ...others });
}

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error as { code: string }).code,
  );

describe('indexing a chain', () => {
  test('ends at its tip, with all indexes, and a second time does nothing', async () => {
    const golden = new GoldenChain('mixed-1');
    const dir = folderOf(golden);
    const summary = await index(database.pool, dir);
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
    expect(await index(database.pool, dir)).toMatchObject({
      blocks: 0,
      undoneAbove: null,
      hash: golden.chain.tip,
    });
    expect(await dumpChain(database.pool)).toEqual(dump);
  });

  // of the other chains test/integration/golden.test.ts says so
  test('gives the same rows of a chain in batches of any size, and with restarts between', async () => {
    const dir = folderOf(new GoldenChain('mixed-2'));
    await index(database.pool, dir);
    const expected = await dumpChain(database.pool);
    for (const blocksMax of [1, 7]) {
      const other = await freshDatabase();
      await index(other.pool, dir, { bounds: { blocksMax }, threads: 2 });
      expect(await dumpChain(other.pool)).toEqual(expected);
    }
    const restarted = await freshDatabase();
    for (let until = 20; until < 220; until += 37) {
      await index(restarted.pool, dir, { until: asHeight(until), bounds: { blocksMax: 5 } });
    }
    expect(await dumpChain(restarted.pool)).toEqual(expected);
  });

  test('gives the same rows of a folder with gaps in batches of any size', async () => {
    const dir = join(samples, 'mainnet');
    const whole = await freshDatabase('mainnet');
    await index(whole.pool, dir);
    const single = await freshDatabase('mainnet');
    for (const until of [780_004, 831_331, 1_000_000]) {
      await index(single.pool, dir, { until: asHeight(until), bounds: { blocksMax: 1 } });
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

  test('tells how far it has come, from nothing to everything', async () => {
    const golden = new GoldenChain('sats-1');
    const seen: { blocks: number; blocksTotal: number; inscriptions: number }[] = [];
    await index(database.pool, folderOf(golden), {
      bounds: { blocksMax: 50 },
      onProgress: (progress) => seen.push(progress),
    });
    const total = golden.chain.headers.length;
    expect(seen.map(({ blocks }) => blocks)).toEqual([0, 50, 100, 150, total]);
    expect(seen.every(({ blocksTotal }) => blocksTotal === total)).toBe(true);
    expect(seen.at(-1)?.inscriptions).toBe(golden.chain.counts.inscriptions);
  });

  test('stops early for a signal, with whole blocks, and goes on from there', async () => {
    const golden = new GoldenChain('mixed-1');
    const dir = folderOf(golden);
    const controller = new AbortController();
    const summary = await index(database.pool, dir, {
      bounds: { blocksMax: 10 },
      signal: controller.signal,
      onProgress: ({ blocks }) => {
        if (blocks >= 40) controller.abort();
      },
    });
    expect(summary.blocks).toBeGreaterThanOrEqual(40);
    expect(summary.blocks).toBeLessThan(golden.chain.headers.length);
    await index(database.pool, dir);
    const other = await freshDatabase();
    await index(other.pool, dir);
    expect(await dumpChain(database.pool)).toEqual(await dumpChain(other.pool));
  });

  test('takes as many statements for a batch of many blocks as for one of few', async () => {
    const dir = folderOf(new GoldenChain('mixed-1'));
    const counts: number[] = [];
    for (const until of [60, 174]) {
      const other = await freshDatabase();
      const statements = countStatements(other.pool);
      await index(other.pool, dir, { until: asHeight(until) });
      counts.push(statements());
    }
    // locking, claiming, planning, loading, one batch, indexes
    expect(counts[1]).toBe(counts[0]);
    const batched = await freshDatabase();
    await index(batched.pool, dir, { until: asHeight(159) });
    const statements = countStatements(batched.pool);
    await index(batched.pool, dir, { bounds: { blocksMax: 5 } });
    // 15 blocks in three batches: nine statements each at most, three questions each at most, 25 around them
    expect(statements()).toBeLessThanOrEqual(3 * 12 + 25);
  });
});

/** Counts the statements on connections that a pool opens from now on. */
function countStatements(pool: pg.Pool): () => number {
  let statements = 0;
  pool.on('connect', (client) => {
    const counted = client as unknown as { query: (...values: unknown[]) => unknown };
    const query = counted.query.bind(client);
    counted.query = (...values) => {
      statements++;
      return query(...values);
    };
  });
  return () => statements;
}

describe('going back', () => {
  test('and forth leaves what was there, at any depth', async () => {
    const golden = new GoldenChain('mixed-2');
    const dir = folderOf(golden);
    await index(database.pool, dir);
    const expected = await dumpChain(database.pool);
    const below = new Map<number, Record<string, string[]>>();
    const other = await freshDatabase();
    for (const height of [30, 115, 150, 182]) {
      await index(other.pool, dir, { until: asHeight(height) });
      below.set(height, await dumpChain(other.pool));
    }
    for (const [height, dump] of [...below].reverse()) {
      const client = await database.pool.connect();
      const tip = await undoAbove(client, asHeight(height), []);
      client.release();
      expect(tip?.height).toBe(height);
      expect(await dumpChain(database.pool)).toEqual(dump);
    }
    await index(database.pool, dir, { bounds: { blocksMax: 9 } });
    expect(await dumpChain(database.pool)).toEqual(expected);
  });

  test('to before the first block leaves nothing', async () => {
    const dir = folderOf(new GoldenChain('sats-1'));
    await index(database.pool, dir);
    const client = await database.pool.connect();
    expect(await undoAbove(client, -1, [])).toBeNull();
    client.release();
    const { 'chain.state': state, ...rows } = await dumpChain(database.pool);
    expect(Object.values(rows).flat()).toEqual([]);
    expect(state?.[0]).toContain('"tip_hash": null');
  });

  test('tells the hooks which ids are free again, in its transaction, and undoes nothing where one fails', async () => {
    const dir = folderOf(new GoldenChain('mixed-1'));
    await index(database.pool, dir, { until: asHeight(140) });
    const { rows } = await database.pool.query<{ free: unknown }>(
      `SELECT json_build_object('nextKey', next_key, 'nextContentId', next_content_id,
         'nextMetadataId', next_metadata_id) AS free FROM chain.blocks WHERE height = 140`,
    );
    const { height } = await index(database.pool, dir);
    const blocksAbove = (height ?? 0) - 140;
    const before = await dumpChain(database.pool);
    const client = await database.pool.connect();
    await expect(
      undoAbove(client, asHeight(140), [
        (tx) => tx.query('CREATE TABLE IF NOT EXISTS public.hooked ()').then(() => undefined),
        () => Promise.reject(new Error('the hook fails')),
      ]),
    ).rejects.toThrow('the hook fails');
    expect(await dumpChain(database.pool)).toEqual(before);
    const told: unknown[] = [];
    await undoAbove(client, asHeight(140), [
      (tx, free) => {
        told.push(free);
        return tx.query('CREATE TABLE IF NOT EXISTS public.hooked ()').then(() => undefined);
      },
    ]);
    client.release();
    expect(told).toHaveLength(blocksAbove);
    expect(told.at(-1)).toEqual(rows[0]?.free);
    const epoch = await database.pool.query('SELECT undo_epoch FROM chain.state');
    expect(epoch.rows).toEqual([{ undo_epoch: blocksAbove }]);
  });
});

describe('a reorganisation', () => {
  const golden = new GoldenChain('reorg-1');
  const tips = golden.tips();
  const clean = new Map<string, Record<string, string[]>>();
  let dir: string;

  beforeAll(async () => {
    dir = folderOf(golden);
    for (const { tip } of tips) {
      const other = await createTestDatabase();
      await pinFingerprintKey(other.pool, 'regtest');
      await index(other.pool, dir, { tip });
      clean.set(tip, await dumpChain(other.pool));
      await other.drop();
    }
  });

  test('from any tip to any other leaves what a clean index of the chain has', async () => {
    const [best, short, long] = tips.map(({ tip }) => tip) as [string, string, string];
    for (const tip of [short, best, long, short, long, best]) {
      const summary = await index(database.pool, dir, { tip, bounds: { blocksMax: 4 } });
      expect(summary.hash).toBe(tip);
      expect(await dumpChain(database.pool)).toEqual(clean.get(tip));
    }
  });

  test('on a run that ended anywhere does so too', async () => {
    const [best, , long] = tips;
    const expected = clean.get(best!.tip);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 90, max: 130 }),
        fc.integer({ min: 1, max: 20 }),
        async (until, blocksMax) => {
          await index(database.pool, dir, { tip: long!.tip, until: asHeight(until), bounds: { blocksMax } });
          await index(database.pool, dir, { tip: best!.tip, bounds: { blocksMax } });
          expect(await dumpChain(database.pool)).toEqual(expected);
        },
      ),
      propertyBounds(2),
    );
  });
});

describe('what is refused', () => {
  const golden = new GoldenChain('mixed-1');
  const { headers } = golden.chain;
  const fileName = ({ height, hash }: { height: number; hash: string }): string =>
    `${String(height).padStart(7, '0')}-${hash}.bin`;
  const bad = headers[150]!;
  let goodDir: string;
  let indexedTo140: FilledDatabase;
  let cleanAt149: Record<string, string[]>;
  let refused: TestDatabase;

  beforeAll(async () => {
    goodDir = folderOf(golden);
    indexedTo140 = await createFilledDatabase(async ({ pool }) => {
      await pinFingerprintKey(pool, 'regtest');
      await index(pool, goodDir, { until: asHeight(140) });
    });
    const clean = await createTestDatabase();
    await pinFingerprintKey(clean.pool, 'regtest');
    await index(clean.pool, goodDir, { until: asHeight(149) });
    cleanAt149 = await dumpChain(clean.pool);
    await clean.drop();
  });
  afterAll(() => indexedTo140?.drop());

  /** Indexes a folder with a changed block 150: earlier blocks stay, and no row of it is written. */
  async function refusedAt150(change: (block: string, spent: string) => void): Promise<unknown> {
    const clone = await indexedTo140.clone();
    databases.push(clone);
    const { pool } = clone;
    const dir = folderOf(golden);
    change(join(dir, 'blocks', fileName(bad)), join(dir, 'spent', fileName(bad)));
    const failure = await index(pool, dir, { bounds: { blocksMax: 4 } }).then(
      () => null,
      (error: unknown) => error,
    );
    const { rows } = await pool.query<{ tip_height: number; top: number }>(
      'SELECT tip_height, (SELECT max(height) FROM chain.blocks) AS top FROM chain.state',
    );
    expect(rows).toEqual([{ tip_height: 149, top: 149 }]);
    expect(await dumpChain(pool)).toEqual(cleanAt149);
    refused = clone;
    return failure;
  }

  test('a truncated block', async () => {
    expect(await refusedAt150((block) => truncateSync(block, 200))).toMatchObject({
      code: 'block_truncated',
      details: { height: 150, hash: bad.hash },
    });
    // with the correct file the next run continues
    expect((await index(refused.pool, goodDir)).hash).toBe(golden.chain.tip);
  });

  test('a block that is larger than any can be', async () => {
    expect(await refusedAt150((block) => truncateSync(block, 4_000_001))).toMatchObject({
      code: 'block_oversized',
      details: { height: 150, hash: bad.hash },
    });
  });

  test('a block with bytes behind it', async () => {
    expect(
      await refusedAt150((block) =>
        writeFileSync(block, Buffer.concat([readFileSync(block), Buffer.alloc(1)])),
      ),
    ).toMatchObject({ code: 'block_oversized', details: { height: 150, hash: bad.hash } });
  });

  test('a block with a changed witness', async () => {
    expect(
      await refusedAt150((block) => {
        const bytes = readFileSync(block);
        bytes[bytes.length - 8]! ^= 1;
        writeFileSync(block, bytes);
      }),
    ).toMatchObject({ code: 'block_corrupt', details: { height: 150, hash: bad.hash } });
  });

  test('another block under its name', async () => {
    expect(
      await refusedAt150((block) =>
        copyFileSync(block.replace(fileName(bad), fileName(headers[149]!)), block),
      ),
    ).toMatchObject({ code: 'block_corrupt', details: { height: 150, hash: bad.hash } });
  });

  test('a block that is not there', async () => {
    expect(await refusedAt150((block) => rmSync(block))).toMatchObject({
      code: 'block_unavailable',
      details: { height: 150, hash: bad.hash },
    });
  });

  test('spent outputs that end too early', async () => {
    expect(await refusedAt150((_, spent) => truncateSync(spent, 30))).toMatchObject({
      code: expect.stringMatching(/^(block_truncated|spent_outputs_mismatch)$/u) as string,
      details: { height: 150, hash: bad.hash },
    });
  });

  test('spent outputs of another block', async () => {
    expect(
      await refusedAt150((_, spent) =>
        copyFileSync(spent.replace(fileName(bad), fileName(headers[110]!)), spent),
      ),
    ).toMatchObject({ code: 'spent_outputs_mismatch', details: { height: 150 } });
  });

  test('a block that names another parent, though it is a block of its own right', async () => {
    const dir = folderOf(golden);
    await index(database.pool, dir, { until: asHeight(149) });
    const bytes = readFileSync(join(dir, 'blocks', fileName(bad)));
    const { header, hash } = mineHeader(new Uint8Array(32), bytes.subarray(36, 68), bytes.readUInt32LE(68));
    bytes.set(header);
    const stray = { height: 150, hash: Buffer.from(hash).reverse().toString('hex') };
    writeFileSync(join(dir, 'blocks', fileName(stray)), bytes);
    copyFileSync(join(dir, 'spent', fileName(bad)), join(dir, 'spent', fileName(stray)));
    writeFileSync(
      join(dir, 'chain.json'),
      JSON.stringify({ network: 'regtest', headers: [...headers.slice(0, 150), stray] }),
    );
    const before = await dumpChain(database.pool);
    await expect(index(database.pool, dir)).rejects.toMatchObject({
      code: 'block_not_linked',
      details: { height: 150, hash: stray.hash },
    });
    expect(await dumpChain(database.pool)).toEqual(before);
  });

  test('a block with more money than there can be', async () => {
    const dir = join(root, `folder-${made++}`);
    const folder = new BlockFolder(dir);
    const script = new Uint8Array(0);
    folder.add(0, regtestGenesis, null);
    const outputs = [{ value: 2_100_000_000_000_001, script }];
    folder.add(1, new BlockBuilder().finish(1, regtestGenesis.hash, 1_700_000_000, outputs), null);
    folder.finish(false, {});
    await expect(index(database.pool, dir)).rejects.toMatchObject({
      code: 'block_corrupt',
      details: { height: 1 },
    });
    const { rows } = await database.pool.query('SELECT height FROM chain.blocks');
    expect(rows).toEqual([{ height: 0 }]);
  });

  test('a folder of another network than the database', async () => {
    const dir = folderOf(new GoldenChain('sats-1'));
    await index(database.pool, dir);
    const before = await dumpChain(database.pool);
    expect(await codeOf(index(database.pool, join(samples, 'mainnet')))).toBe('network_mismatch');
    expect(await dumpChain(database.pool)).toEqual(before);
  });

  test('a second writer, while the first one is there', async () => {
    const dir = folderOf(new GoldenChain('sats-1'));
    const giveBack = await holdWriterLock(database.pool);
    expect(await codeOf(index(database.pool, dir))).toBe('database_busy');
    giveBack();
    expect(await codeOf(index(database.pool, dir))).toBe('no error');
  });

  test('a tip that somebody else moved meanwhile', async () => {
    const dir = folderOf(golden);
    await index(database.pool, dir, { until: asHeight(100) });
    let moved = false;
    const run = index(database.pool, dir, {
      bounds: { blocksMax: 10 },
      onProgress: ({ blocks }) => {
        if (blocks < 20 || moved) return;
        moved = true;
        void database.pool.query('UPDATE chain.state SET tip_height = 5');
      },
    });
    expect(await codeOf(run)).toBe('tip_changed');
  });

  test('a database that was made by other rules', async () => {
    await database.pool.query('UPDATE chain.state SET text_rules = 0');
    expect(await codeOf(index(database.pool, folderOf(new GoldenChain('sats-1'))))).toBe('rules_changed');
  });

  test('a folder without blocks, which takes nothing back', async () => {
    const dir = folderOf(new GoldenChain('sats-1'));
    await index(database.pool, dir);
    rmSync(join(dir, 'blocks'), { recursive: true });
    mkdirSync(join(dir, 'blocks'));
    writeFileSync(join(dir, 'chain.json'), JSON.stringify({ network: 'regtest' }));
    expect(await codeOf(index(database.pool, dir))).toBe('folder_invalid');
  });
});

test('texts above the cap are kept, and not made searchable', async () => {
  const dir = folderOf(new GoldenChain('mixed-1'));
  await index(database.pool, dir, { textMaxBytes: 40 });
  const { rows } = await database.pool.query<{ texts: number; longest: number; longer: number }>(
    `SELECT count(*) FILTER (WHERE text > 0) AS texts, max(length(body)) FILTER (WHERE text > 0) AS longest,
       count(*) FILTER (WHERE length(body) > 40 AND variant = 8) AS longer FROM chain.contents`,
  );
  const { texts, longest, longer } = rows[0]!;
  expect(texts).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(40);
  expect(longer).toBeGreaterThan(0);
});
