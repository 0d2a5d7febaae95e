import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BlockFolder } from '#bench/generate/block-folder.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { pinFingerprintKey } from '#test/support/chain-dump.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { GoldenChain } from '#test/support/golden-chain.ts';
import {
  genesis,
  naiveOutputs,
  nextBlock,
  type PaymentBlock,
  storedOutputs,
} from '#test/support/output-chain.ts';

let root: string;
let database: TestDatabase;
let made = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-outputs-'));
});
beforeEach(async () => {
  database = await createTestDatabase();
  await pinFingerprintKey(database.pool, 'regtest');
});
afterEach(() => database.drop());
afterAll(() => rm(root, { recursive: true, force: true }));

interface Options {
  readonly tip?: string;
  readonly until?: number;
  readonly blocksMax?: number;
  readonly indexAddresses?: boolean;
}

async function index(
  dir: string,
  { tip, until, blocksMax, indexAddresses = true }: Options = {},
): Promise<void> {
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  await follow({
    source,
    pool: database.pool,
    signal: new AbortController().signal,
    threads: 1,
    indexAddresses,
    ...(until === undefined ? {} : { until }),
    bounds: blocksMax === undefined ? {} : { blocksMax },
  });
}

function folderOf(chain: readonly PaymentBlock[]): string {
  const dir = join(root, `chain-${made++}`);
  const folder = new BlockFolder(dir);
  for (const { height, block } of chain) folder.add(height, block, null);
  folder.finish(false, {});
  return dir;
}

function grow(from: readonly PaymentBlock[], blocks: number, seed: number): PaymentBlock[] {
  const chain = [...from];
  for (let count = 0; count < blocks; count++) {
    chain.push(nextBlock(chain.at(-1) as PaymentBlock, seed + count * 7919));
  }
  return chain;
}

const naive = (chain: readonly PaymentBlock[]): string[] =>
  naiveOutputs(chain.map(({ height, block }) => ({ height, bytes: block.bytes })));

describe('the table of outputs', () => {
  test('is that of a naive model over random chains that reorganise, in batches of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2 ** 30 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 5 }),
        async (seed, shared, left, right, blocksMax) => {
          const trunk = grow([genesis], shared, seed);
          const branches = [grow(trunk, left, seed + 1), grow(trunk, right, seed + 2), trunk];
          const folders = branches.map(folderOf);
          for (const branch of [0, 1, 2, 0]) {
            await index(folders[branch] as string, { blocksMax });
            expect(await storedOutputs(database.pool)).toEqual(naive(branches[branch] as PaymentBlock[]));
          }
          await database.pool.query('TRUNCATE chain.outputs, chain.blocks, chain.outbox, chain.event_hashes');
          await database.pool.query('UPDATE chain.state SET tip_height = NULL, tip_hash = NULL');
        },
      ),
      { numRuns: 4 },
    );
  }, 120_000);

  test.each(['mixed-2', 'reorg-1'])('is that of another library: %s', async (name) => {
    const golden = new GoldenChain(name);
    const dir = join(root, name);
    golden.writeFolder(dir);
    for (const { tip, headers } of golden.tips().toReversed()) {
      await index(dir, { tip, blocksMax: 40 });
      const blocks = headers.map((header) => golden.block(header));
      expect(await storedOutputs(database.pool)).toEqual(naiveOutputs(blocks));
    }
  });

  test('stays empty without the option', async () => {
    await index(folderOf(grow([genesis], 3, 5)), { indexAddresses: false });
    expect(await storedOutputs(database.pool)).toEqual([]);
  });

  test('is on or off from the first block on', async () => {
    const chain = grow([genesis], 5, 17);
    const dir = folderOf(chain);
    await index(dir, { until: 3, indexAddresses: false });
    await expect(index(dir)).rejects.toMatchObject({
      code: 'address_index_fixed',
      details: { wanted: true },
    });
    // nothing of it came in, and as before it goes on
    await index(dir, { indexAddresses: false });
    const other = await createTestDatabase();
    const first = database;
    database = other;
    try {
      await index(dir, { until: 3 });
      await expect(index(dir, { indexAddresses: false })).rejects.toMatchObject({
        code: 'address_index_fixed',
        details: { wanted: false },
      });
      await index(dir);
      expect(await storedOutputs(other.pool)).toEqual(naive(chain));
    } finally {
      database = first;
      await other.drop();
    }
  });

  test('refuses a folder that lacks blocks', async () => {
    const chain = grow([genesis], 6, 23);
    const dir = join(root, `gaps-${made++}`);
    const folder = new BlockFolder(dir);
    for (const { height, block } of chain) if (height !== 3) folder.add(height, block, null);
    folder.finish(true, {});
    await expect(index(dir)).rejects.toMatchObject({
      code: 'address_index_gap',
      details: { expected: 3, height: 4 },
    });
    expect(await storedOutputs(database.pool)).toEqual(naive(chain.slice(0, 3)));
  });

  test('marks what a block spends in one statement, whatever it spends', async () => {
    let updates = 0;
    database.pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...values: unknown[]) => unknown;
      (client as unknown as { query: typeof query }).query = (...values) => {
        if (String(values[0]).includes('UPDATE chain.outputs')) updates++;
        return query(...values);
      };
    });
    const chain = grow([genesis], 12, 31);
    await index(folderOf(chain));
    const spends = naive(chain).filter((line) => !line.endsWith('null'));
    expect(updates).toBeLessThanOrEqual(12);
    expect(spends.length).toBeGreaterThan(updates);
  });
});
