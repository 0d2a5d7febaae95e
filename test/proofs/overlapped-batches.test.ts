import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import { seams } from '#kernel/process/failpoint.ts';
import { comparisonWith } from '#test/support/chain/chain-dump.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { parseFolder, writeInBatches } from '#test/support/chain/overlapped-batches.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds, sampleStep } from '#test/support/property-runs.ts';
import { SoldChain } from '#test/support/sales/sold-chain.ts';

let root: string;
const databases: TestDatabase[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-overlapped-'));
});
afterEach(async () => {
  for (const made of databases.splice(0)) await made.drop();
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function emptyPool(): Promise<pg.Pool> {
  const made = await createTestDatabase();
  databases.push(made);
  return made.pool;
}

/**
 * Seams outside of the transaction. Only these are used because the next batch may build an index, which waits for the
 * end of the transaction.
 */
const waitsOutside = seams.filter((name) => !['copying', 'deflated', 'transaction'].includes(name));
const boundsOf = (blocks: number): number[] => [1, 2, 3, 5, 7, 16, blocks];
/**
 * Whether a bound is tried with a chain. A long run tries every bound; otherwise a chain gets every fourth bound, and
 * the next chains get the others. The first chain is the longest.
 */
const isTried = (chain: number, at: number): boolean => (chain + at + 1) % sampleStep(4) === 0;

/** A random chain with sales, because no recorded chain has any. */
const sold = new SoldChain('overlapped');
const soldName = 'sold';
const names = [...goldenChainNames, soldName];

/** Reads and parses the blocks of a chain. */
async function blocksOf(name: string): Promise<readonly ParsedBlock[]> {
  if (name === soldName) return parseFolder(sold.dirs.best);
  const golden = new GoldenChain(name);
  const dir = join(root, name);
  golden.writeFolder(dir);
  return parseFolder(dir, golden.chain.tip);
}

describe.each(names)('%s', (name) => {
  const place = names.indexOf(name);
  let blocks: readonly ParsedBlock[];
  let singly: TestDatabase;
  let differences: Awaited<ReturnType<typeof comparisonWith>>;

  beforeAll(async () => {
    blocks = await blocksOf(name);
    singly = await createTestDatabase();
    await writeInBatches(singly.pool, blocks, { sizes: [1], overlappedAt: null });
    differences = await comparisonWith(singly.pool);
  });
  afterAll(() => singly.drop());

  test('has the same rows in overlapped batches of any size as block by block', async () => {
    for (const [at, bound] of boundsOf(blocks.length).entries()) {
      if (!isTried(place, at)) continue;
      const pool = await emptyPool();
      const overlappedAt = seams[(place + at) % seams.length]!;
      const alone = await writeInBatches(pool, blocks, { sizes: [bound], overlappedAt });
      expect([bound, overlappedAt, alone]).toEqual([bound, overlappedAt, 1]);
      expect(await differences(pool)).toEqual([]);
    }
  });

  if (name === soldName) {
    test('sells', async () => {
      const { rows } = await singly.pool.query<{ sales: number }>(
        'SELECT count(*)::integer AS sales FROM chain.sales',
      );
      expect(rows[0]?.sales).toBeGreaterThan(10);
    });
  }
  if (name !== 'mixed-2' && name !== soldName) return;

  test('has them in batches of random sizes too, whatever was removed from memory', async () => {
    const writes = fc.record({
      sizes: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
      cacheEntries: fc.constantFrom(8, 64, 4096),
      checksSpends: fc.boolean(),
      overlappedAt: fc.constantFrom(...waitsOutside),
    });
    await fc.assert(
      fc.asyncProperty(writes, async (write) => {
        const pool = await emptyPool();
        expect(await writeInBatches(pool, blocks, write)).toBe(1);
        expect(await differences(pool)).toEqual([]);
      }),
      propertyBounds(2),
    );
  });
});
