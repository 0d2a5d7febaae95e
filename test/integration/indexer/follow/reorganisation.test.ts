import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { undoAbove } from '#indexer/apply/undo.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { dumpChain, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { indexFolder, indexTests } from '#test/support/chain/index-tests.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const { freshDatabase, folderOf } = indexTests();
let database: TestDatabase;
beforeEach(async () => {
  database = await freshDatabase();
});

describe('going back', () => {
  test('and forward leaves the same rows, at any depth', async () => {
    const golden = new GoldenChain('mixed-2');
    const dir = folderOf(golden);
    await indexFolder(database.pool, dir);
    const expected = await dumpChain(database.pool);
    const below = new Map<number, Record<string, string[]>>();
    const other = await freshDatabase();
    for (const height of [30, 115, 150, 182]) {
      await indexFolder(other.pool, dir, { until: asHeight(height) });
      below.set(height, await dumpChain(other.pool));
    }
    for (const [height, dump] of [...below].reverse()) {
      const client = await database.pool.connect();
      const tip = await undoAbove(client, asHeight(height), []);
      client.release();
      expect(tip?.height).toBe(height);
      expect(await dumpChain(database.pool)).toEqual(dump);
    }
    await indexFolder(database.pool, dir, { bounds: { blocksMax: 9 } });
    expect(await dumpChain(database.pool)).toEqual(expected);
  });

  test('to before the first block leaves an empty index', async () => {
    const dir = folderOf(new GoldenChain('sats-1'));
    await indexFolder(database.pool, dir);
    const client = await database.pool.connect();
    expect(await undoAbove(client, -1, [])).toBeNull();
    client.release();
    const { 'chain.state': state, ...rows } = await dumpChain(database.pool);
    expect(Object.values(rows).flat()).toEqual([]);
    expect(state?.[0]).toContain('"tip_hash": null');
  });

  test('passes the free ids to the hooks, in its transaction, and undoes nothing if one fails', async () => {
    const dir = folderOf(new GoldenChain('mixed-1'));
    await indexFolder(database.pool, dir, { until: asHeight(140) });
    const { rows } = await database.pool.query<{ free: unknown }>(
      `SELECT json_build_object('nextKey', next_key, 'nextContentId', next_content_id,
         'nextMetadataId', next_metadata_id) AS free FROM chain.blocks WHERE height = 140`,
    );
    const { height } = await indexFolder(database.pool, dir);
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
      await indexFolder(other.pool, dir, { tip });
      clean.set(tip, await dumpChain(other.pool));
      await other.drop();
    }
  });

  test('from any tip to any other leaves the rows of a clean index', async () => {
    const [best, short, long] = tips.map(({ tip }) => tip) as [string, string, string];
    for (const tip of [short, best, long, short, long, best]) {
      const summary = await indexFolder(database.pool, dir, { tip, bounds: { blocksMax: 4 } });
      expect(summary.hash).toBe(tip);
      expect(await dumpChain(database.pool)).toEqual(clean.get(tip));
    }
  });

  test('does so too on a run that ended anywhere', async () => {
    const [best, , long] = tips;
    const expected = clean.get(best!.tip);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 90, max: 130 }),
        fc.integer({ min: 1, max: 20 }),
        async (until, blocksMax) => {
          await indexFolder(database.pool, dir, {
            tip: long!.tip,
            until: asHeight(until),
            bounds: { blocksMax },
          });
          await indexFolder(database.pool, dir, { tip: best!.tip, bounds: { blocksMax } });
          expect(await dumpChain(database.pool)).toEqual(expected);
        },
      ),
      propertyBounds(2),
    );
  });
});
