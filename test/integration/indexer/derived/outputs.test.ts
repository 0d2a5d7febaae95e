import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { BlockBuilder } from '#test/builders/block.ts';
import { BlockFolder } from '#test/builders/block-folder.ts';
import { pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import {
  genesis,
  naiveOutputs,
  nextBlock,
  type PaymentBlock,
  storedOutputs,
} from '#test/support/chain/output-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

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
    threads: parseThreads(),
    indexAddresses,
    ...(until === undefined ? {} : { until: asHeight(until) }),
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
  test('equals a naive model over random chains that reorganise, in batches of any size', async () => {
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
          await database.pool.query(
            `TRUNCATE chain.outputs, chain.rune_blocks, chain.blocks, chain.outbox, chain.outbox_texts,
               chain.event_hashes`,
          );
          await database.pool.query('UPDATE chain.state SET tip_height = NULL, tip_hash = NULL');
        },
      ),
      propertyBounds(2),
    );
  });

  test.each(['mixed-2', 'reorg-1'])('equals that of another library: %s', async (name) => {
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
    // nothing was written, and the next run continues as before
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

  describe('a folder that spends', () => {
    const nowhere = { txid: Buffer.alloc(32, 0xee), vout: 3, value: 1000 };
    /** A block on top of a chain. It spends outputs, each in its own transaction. */
    const spending = (chain: readonly PaymentBlock[], coins: PaymentBlock['coins']): PaymentBlock => {
      const before = chain.at(-1) as PaymentBlock;
      const height = before.height + 1;
      const builder = new BlockBuilder();
      for (const { txid, vout, value } of coins) {
        builder.add({
          inputs: [{ txid, vout, scriptSig: new Uint8Array(0), witness: [] }],
          outputs: [{ value, script: Buffer.from([0x51]) }],
        });
      }
      const paid = [{ value: 0, script: Buffer.from([0x51]) }];
      const block = builder.finish(height, before.block.hash, 1_700_000_000 + height, paid);
      return { block, height, coins: before.coins };
    };
    const refused = async (chain: readonly PaymentBlock[], wrong: PaymentBlock): Promise<void> => {
      const rest = grow([...chain, wrong], 3, 77);
      await expect(index(folderOf(rest))).rejects.toMatchObject({
        code: 'block_corrupt',
        details: { height: wrong.height },
      });
      // the blocks before the refused block stay, and nothing of the refused block is stored
      expect(await storedOutputs(database.pool)).toEqual(naive(chain));
      const { rows } = await database.pool.query<{ tip_height: number }>(
        'SELECT tip_height FROM chain.state',
      );
      expect(rows).toEqual([{ tip_height: wrong.height - 1 }]);
    };

    test('an output that never existed is block_corrupt', async () => {
      const chain = grow([genesis], 8, 41);
      await refused(chain, spending(chain, [nowhere]));
    });

    test('the same output in two blocks, or twice in one, is block_corrupt in the later one', async () => {
      const trunk = grow([genesis], 8, 43);
      const coin = trunk.at(-1)!.coins[0]!;
      const once = [...trunk, { ...spending(trunk, [coin]), coins: trunk.at(-1)!.coins.slice(1) }];
      await refused(once, spending(once, [coin]));
      const twice = spending(once, [once.at(-1)!.coins[0]!, once.at(-1)!.coins[0]!]);
      await refused(once, twice);
    });

    test('an output of the same block twice is block_corrupt', async () => {
      const chain = grow([genesis], 4, 47);
      const before = chain.at(-1)!;
      const coin = before.coins[0]!;
      const builder = new BlockBuilder();
      const script = Buffer.from([0x51]);
      const spend = (from: typeof coin): Uint8Array =>
        builder.add({
          inputs: [{ txid: from.txid, vout: from.vout, scriptSig: new Uint8Array(0), witness: [] }],
          outputs: [{ value: from.value, script }],
        });
      const made = { txid: Uint8Array.from(spend(coin)), vout: 0, value: coin.value };
      spend(made);
      spend({ ...made, value: made.value - 1 });
      const height = before.height + 1;
      const block = builder.finish(height, before.block.hash, 1_700_000_000 + height, [{ value: 0, script }]);
      await refused(chain, { block, height, coins: before.coins });
    });
  });

  test('marks the spent outputs of a block in one statement, for any number', async () => {
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
