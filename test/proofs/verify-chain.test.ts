import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { rollback } from '#indexer/follow/rollback.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { Difference } from '#indexer/verify/difference.ts';
import { type Verified, verifyChain } from '#indexer/verify/verify-chain.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { dumpChain, holdWriterLock, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { SimulatedNode } from '#test/support/node/simulated-node.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const golden = new GoldenChain('mixed-1');
const { signal } = new AbortController();
let dir: string;
let database: TestDatabase;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satscribe-verify-'));
  golden.writeFolder(dir);
  database = await createTestDatabase();
  await pinFingerprintKey(database.pool, 'regtest');
  await follow({
    source: await openFolderSource(dir),
    pool: database.pool,
    signal,
    threads: parseThreads(),
    indexAddresses: true,
  });
});
afterAll(async () => {
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

async function verify(options: { from?: Height; to?: Height } = {}): Promise<Verified> {
  const source = await openFolderSource(dir);
  return verifyChain({
    source,
    pool: database.pool,
    signal,
    threads: parseThreads(),
    differencesMax: 100,
    ...options,
  });
}

/** Changes a row, verifies the chain, and restores the row. */
async function tampered(
  change: string,
  back: string,
  options: { from?: Height; to?: Height } = {},
): Promise<Verified> {
  expect((await database.pool.query(change)).rowCount).toBe(1);
  try {
    return await verify(options);
  } finally {
    expect((await database.pool.query(back)).rowCount).toBe(1);
  }
}

describe('verifying', () => {
  test('finds no difference in indexed data, from a folder and from a node', async () => {
    const tip = golden.chain.headers.length - 1;
    const found = await verify();
    expect(found).toMatchObject({ from: 0, to: tip, blocks: tip + 1, differences: [] });
    expect(found.inscriptions).toBe(golden.chain.counts.inscriptions);
    const source = new SimulatedNode(golden);
    const { pool } = database;
    expect(
      await verifyChain({
        source,
        pool,
        signal,
        threads: parseThreads(),
        differencesMax: 9,
        from: asHeight(120),
        to: asHeight(140),
      }),
    ).toMatchObject({ from: 120, to: 140, blocks: 21, differences: [] });
  });

  test('finds every changed field, and names it', async () => {
    const flipped = 'set_byte(sha256, 0, get_byte(sha256, 0) # 1)';
    const location =
      '(key, height, step) = (SELECT key, height, step FROM chain.locations WHERE key = 3 ORDER BY height, step LIMIT 1)';
    const output =
      '(txid, vout) = (SELECT txid, vout FROM chain.outputs WHERE height = 50 ORDER BY vout LIMIT 1)';
    const changes = [
      ['blocks', 'tx_count', 'height = 130', 'tx_count + 1', 'tx_count - 1'],
      ['blocks', 'header', 'height = 131', 'set_byte(header, 0, 9)', 'set_byte(header, 0, 0)'],
      ['inscriptions', 'number', 'key = 5', 'number + 1', 'number - 1'],
      ['inscriptions', 'charms', 'key = 5', 'charms # 1', 'charms # 1'],
      ['locations', 'sat_offset', location, 'sat_offset + 1', 'sat_offset - 1'],
      ['outputs', 'value', output, 'value + 1', 'value - 1'],
      ['event_hashes', 'sha256', 'height = 60 AND kind = 0', flipped, flipped],
    ] as const;
    const { pool } = database;
    const { rows } = await pool.query<{ header: Buffer }>(
      'SELECT header FROM chain.blocks WHERE height = 131',
    );
    const first = rows[0]!.header[0]!;
    for (const [table, column, where, changed] of changes) {
      expect(
        (await pool.query(`UPDATE chain.${table} SET ${column} = ${changed} WHERE ${where}`)).rowCount,
      ).toBe(1);
    }
    const { differences } = await verify();
    for (const [table, column, where, , back] of changes) {
      const value = column === 'header' ? `set_byte(header, 0, ${first})` : back;
      expect(
        (await pool.query(`UPDATE chain.${table} SET ${column} = ${value} WHERE ${where}`)).rowCount,
      ).toBe(1);
    }
    const found = differences.map(({ table, column }) => `${table} ${column}`);
    for (const [table, column] of changes) {
      // outputs have no key, so a changed row counts as one missing row and one additional row
      expect(found).toContain(`chain.${table} ${table === 'outputs' ? null : column}`);
    }
    expect(differences.filter(({ height }) => height === 130)).toMatchObject([
      { table: 'chain.blocks', row: 'height 130', column: 'tx_count' },
    ]);
  });

  test('finds rows that no block wrote, and those that are gone', async () => {
    const { pool } = database;
    await pool.query(
      'CREATE TABLE public.kept AS SELECT * FROM chain.inscription_details ORDER BY key LIMIT 1',
    );
    const changes = [
      [
        'INSERT INTO chain.parents VALUES (1000000, 0, 1, 5)',
        'DELETE FROM chain.parents WHERE child_key = 1000000',
      ],
      [
        'INSERT INTO chain.locations (key, height, sat_offset, step, place) VALUES (0, 77, 0, 5, 2)',
        'DELETE FROM chain.locations WHERE key = 0 AND height = 77 AND step = 5',
      ],
      [
        'DELETE FROM chain.inscription_details d USING public.kept k WHERE d.key = k.key',
        'INSERT INTO chain.inscription_details SELECT * FROM public.kept',
      ],
    ] as const;
    for (const [change] of changes) expect((await pool.query(change)).rowCount).toBe(1);
    const { differences } = await verify();
    for (const [, back] of changes) expect((await pool.query(back)).rowCount).toBe(1);
    expect(differences).toHaveLength(3);
    const of = (name: string): Difference | undefined => differences.find(({ table }) => table === name);
    expect(of('chain.parents')).toMatchObject({ row: 'child_key 1000000' });
    expect(of('chain.locations')).toMatchObject({ row: 'key 0, height 77, step 5' });
    expect(of('chain.inscription_details')).toMatchObject({ expected: 'a row' });
  });

  test('finds a row that is there twice, in a table without a key', async () => {
    const { differences } = await tampered(
      'INSERT INTO chain.outputs SELECT * FROM chain.outputs WHERE height = 50 LIMIT 1',
      `DELETE FROM chain.outputs WHERE ctid = (SELECT max(ctid) FROM chain.outputs
        WHERE (txid, vout) = (SELECT txid, vout FROM chain.outputs WHERE height = 50
          GROUP BY txid, vout HAVING count(*) > 1))`,
      { from: asHeight(50), to: asHeight(50) },
    );
    expect(differences).toEqual([
      expect.objectContaining({ height: 50, table: 'chain.outputs', expected: null, found: 'a row' }),
    ]);
  });

  test('finds a deleted spend, and one that was moved', async () => {
    const { rows } = await database.pool.query<{ key: number; height: number; step: number; spent: number }>(
      `SELECT key, height, step, spent_height AS spent FROM chain.locations
       WHERE spent_height > height AND outpoint_fingerprint IS NOT NULL ORDER BY height LIMIT 1`,
    );
    const { key, height, step, spent } = rows[0]!;
    const where = `key = ${key} AND height = ${height} AND step = ${step}`;
    for (const other of ['NULL', String(spent + 1)]) {
      const found = await tampered(
        `UPDATE chain.locations SET spent_height = ${other} WHERE ${where}`,
        `UPDATE chain.locations SET spent_height = ${spent} WHERE ${where}`,
        { from: asHeight(height), to: asHeight(spent + 1) },
      );
      expect(found.differences.map((difference) => difference.table)).toContain('chain.locations');
    }
  });

  test('of a part does not look at the rest', async () => {
    const found = await tampered(
      'UPDATE chain.blocks SET size_bytes = size_bytes + 1 WHERE height = 40',
      'UPDATE chain.blocks SET size_bytes = size_bytes - 1 WHERE height = 40',
      { from: asHeight(41), to: asHeight(50) },
    );
    expect(found).toMatchObject({ blocks: 10, differences: [] });
  });
});

describe('going back by hand', () => {
  test('leaves the contents of an index up to that height, and nothing while another process writes', async () => {
    const { pool } = database;
    const giveBack = await holdWriterLock(pool);
    const options = { pool, network: 'regtest' as const, height: asHeight(150), signal };
    await expect(rollback(options)).rejects.toMatchObject({ code: 'database_busy' });
    giveBack();
    const whole = await dumpChain(pool);
    let undone = 0;
    const { blocks, tip } = await rollback({ ...options, onUndone: () => undone++ });
    expect(tip?.height).toBe(150);
    expect(blocks).toBe(golden.chain.headers.length - 151);
    expect(undone).toBe(blocks);
    expect(await rollback(options)).toMatchObject({ blocks: 0 });
    const source = await openFolderSource(dir);
    await follow({ source, pool, signal, threads: parseThreads(), indexAddresses: true });
    expect(await dumpChain(pool)).toEqual(whole);
    expect((await verify({ from: asHeight(140) })).differences).toEqual([]);
  });
});
