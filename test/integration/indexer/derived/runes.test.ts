import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { storedRuneKind } from '#chain/events/rune-texts.queries.ts';
import { exportBalances } from '#chain/runes/export-balances.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { openChainSession } from '#indexer/apply/chain-session.ts';
import { DerivedBatch, factsOf } from '#indexer/derived/derived-batch.ts';
import { DerivedMemories } from '#indexer/derived/derived-memories.ts';
import { runes } from '#indexer/derived/runes/runes.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import { hardcodedRunes } from '#indexer/ledger/runes/rune-entry.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { verifyChain } from '#indexer/verify/verify-chain.ts';
import { createParsePool, type ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import { testFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { readEntries, readHashes, textsOfTables } from '#test/support/chain/events/event-rows.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { indexFolder, indexTests } from '#test/support/chain/index-tests.ts';
import { RuneChain } from '#test/support/chain/runes/rune-chain.ts';
import { RuneSource } from '#test/support/chain/runes/rune-source.ts';
import { RuneStore } from '#test/support/chain/runes/rune-store.ts';
import { readRuneTables, tablesOfStore } from '#test/support/chain/runes/rune-tables.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyBounds, sampleStep } from '#test/support/property-runs.ts';

const { freshDatabase, folderOf } = indexTests();
const { signal } = new AbortController();
const minimum = (height: number): bigint => minimumRuneAt(networks.regtest, height);

const index = (
  pool: pg.Pool,
  source: BlockSource,
  blocksMax: number,
  options: Partial<FollowOptions> = {},
): Promise<unknown> =>
  follow({
    source,
    pool,
    signal,
    threads: parseThreads(),
    bounds: { blocksMax, load: { blocksMin: 2, blocksMax } },
    ...options,
  });

async function expectVerified(pool: pg.Pool, source: BlockSource): Promise<void> {
  const verified = await verifyChain({ source, pool, signal, threads: parseThreads(), differencesMax: 9 });
  expect(verified.differences).toEqual([]);
}

/** Asserts that texts from the tables have the stored hashes, which are chained from the first block. */
async function expectEvents(pool: pg.Pool): Promise<string> {
  const texts = await textsOfTables(pool, 'regtest', storedRuneKind);
  let previous = Buffer.alloc(32);
  const expected = texts
    .filter(({ isKnown }) => isKnown)
    .map(({ height, text }) => {
      const sha256 = createHash('sha256').update(text, 'latin1').digest();
      previous = createHash('sha256').update(previous).update(sha256).digest();
      return [height, { sha256: sha256.toString('hex'), cumulative: previous.toString('hex') }];
    });
  expect([...(await readHashes(pool, storedRuneKind))]).toEqual(expected);
  return texts.map(({ text }) => text).join('');
}

/** Batch sizes. Each chain uses one of them, or all in a long run. */
const sizes = [7, 1, 1000];

describe.each(goldenChainNames)('%s', (name) => {
  const golden = new GoldenChain(name);
  const place = goldenChainNames.indexOf(name);
  const tried = sizes.filter((_, at) => (place + at) % sampleStep(3) === 0);

  test.each(tried)('has the runes of ord at each tip, in batches of %i', async (blocksMax) => {
    const dir = folderOf(golden);
    const { pool } = await freshDatabase();
    for (const tip of golden.tips()) {
      // the unit tests of the ledger compare this store with ord's responses
      const store = new RuneStore(networks[golden.chain.network]);
      store.apply(tip.headers.map((header) => golden.block(header)));
      await indexFolder(pool, dir, {
        tip: tip.tip,
        bounds: { blocksMax, load: { blocksMin: 2, blocksMax } },
      });
      expect(await readRuneTables(pool)).toEqual(tablesOfStore(store));
      expect(await exported(pool)).toBe(`${golden.runeAnswers(tip, 'balances.json').join('\n')}\n`);
      const text = await expectEvents(pool);
      expect(text.match(/^etched /gmu)?.length ?? 0).toBe(store.runes.length);
    }
    if (name === 'runes-1') await expectVerified(pool, await openFolderSource(dir));
  });
});

async function exported(pool: pg.Pool): Promise<string> {
  let text = '';
  await withSnapshot(
    pool,
    async ({ client }) => {
      for await (const piece of exportBalances(client)) text += piece;
    },
    null,
  );
  return text;
}

/** A random chain in a source, with its store. */
class RandomRunes {
  readonly source = new RuneSource();
  readonly store = new RuneStore(networks.regtest);
  readonly chain: RuneChain;

  constructor(seed: string) {
    this.chain = new RuneChain(seed, minimum);
  }

  grow(blocks: number): void {
    for (let block = 0; block < blocks; block++) this.store.apply([this.source.push(this.chain.block().fed)]);
  }

  goBack(blocks: number): void {
    for (let block = 0; block < blocks; block++) {
      this.chain.undo();
      this.store.undo();
      this.source.pop();
    }
  }
}

describe('random chains', () => {
  test('are indexed as by the ledger, through restarts and reorganisations, and pass verify', async () => {
    const seen = { runes: 0, mints: 0, burned: 0 };
    const steps = fc.array(
      fc.record({
        back: fc.constantFrom(0, 0, 1, 3, 6, 12),
        blocks: fc.integer({ min: 1, max: 14 }),
        blocksMax: fc.integer({ min: 1, max: 9 }),
      }),
      { minLength: 3, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(), steps, async (seed, walk) => {
        const random = new RandomRunes(`tables ${seed}`);
        const { pool } = await freshDatabase();
        for (const { back, blocks, blocksMax } of walk) {
          const depth = Math.min(back, random.chain.height);
          random.goBack(depth);
          random.grow(depth + blocks);
          await index(pool, random.source, blocksMax);
          expect(await readRuneTables(pool)).toEqual(tablesOfStore(random.store));
        }
        await expectEvents(pool);
        await expectVerified(pool, random.source);
        seen.runes += random.store.runes.length;
        seen.mints += random.store.mints.length;
        seen.burned += random.store.burned.length;
      }),
      propertyBounds(6),
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(5);
  });

  test('are the same after reorganisations of 1, 6, 12 and 40 blocks as when they are indexed once', async () => {
    const random = new RandomRunes('reorganised');
    random.grow(60);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 1000);
    for (const depth of [1, 6, 12, 40]) {
      random.goBack(depth);
      random.grow(depth + 1);
      await index(pool, random.source, 1);
      expect(await readRuneTables(pool)).toEqual(tablesOfStore(random.store));
    }
    const clean = await freshDatabase();
    await index(clean.pool, random.source, 7);
    expect(await readHashes(pool, storedRuneKind)).toEqual(await readHashes(clean.pool, storedRuneKind));
    await expectVerified(pool, random.source);
  });

  test('have no runes after a gap or after a block with unknown spent outputs', async () => {
    const random = new RandomRunes('gaps');
    random.grow(40);
    const { pool: upTo } = await freshDatabase();
    await index(upTo, random.source, 7, { until: asHeight(19) });
    const sources = [
      random.source.without(
        (height) => height === 20,
        () => true,
      ),
      random.source.without(
        () => false,
        (height) => height !== 20,
      ),
    ];
    for (const source of sources) {
      const { pool } = await freshDatabase();
      await index(pool, source, 6);
      expect(await readRuneTables(pool)).toEqual(await readRuneTables(upTo));
      const { rows } = await pool.query('SELECT height, anchored FROM chain.rune_blocks ORDER BY height');
      const heights = (await source.refs()).map(({ height }) => height);
      expect(rows).toEqual(heights.map((height) => ({ height, anchored: height < 20 })));
      await expectEvents(pool);
      const entries = await readEntries(pool, storedRuneKind);
      expect(entries.map(({ height, eventCount }) => [height, eventCount === null])).toEqual(
        heights.map((height) => [height, height >= 20]),
      );
      await expectVerified(pool, source);
    }
  });
});

describe('the tables', () => {
  test('have the rune of mainnet without an etching from their creation on, which other networks lack', async () => {
    const { pool } = await freshDatabase('mainnet');
    const settings = { indexAddresses: false, indexRunes: true, indexSats: false, indexSales: true };
    for (let start = 0; start < 2; start++) await (await openChainSession(pool, 'mainnet', settings)).close();
    expect((await readRuneTables(pool)).runes).toEqual(hardcodedRunes('mainnet'));
    const other = await freshDatabase('testnet4');
    await (await openChainSession(other.pool, 'testnet4', settings)).close();
    expect((await readRuneTables(other.pool)).runes).toEqual([]);
  });

  test('are empty while runes are not wanted, and get every rune later', async () => {
    const random = new RandomRunes('wanted later');
    random.grow(20);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 7, { indexRunes: false });
    expect(await readRuneTables(pool)).toEqual({ runes: [], balances: [], mints: [], burned: [] });
    const { rowCount } = await pool.query("SELECT FROM chain.derived_tables WHERE name = 'runes'");
    expect(rowCount).toBe(0);
  });

  test('send no query for blocks that name no rune', async () => {
    const golden = new GoldenChain('transfers-1');
    const dir = folderOf(golden);
    const { pool } = await freshDatabase();
    await indexFolder(pool, dir, { until: asHeight(99) });
    const source = new RuneSource();
    const blocks = golden.chain.headers.slice(100).map((header) => golden.block(header));
    for (const block of blocks) source.push(block);
    const client = await pool.connect();
    const chain = {
      network: networks.regtest,
      fingerprintKey: expandFingerprintKey(testFingerprintKey),
      readBlock: () => Promise.reject(new Error('no block is read')),
    };
    const memories = await DerivedMemories.open(client, [runes], chain);
    client.release();
    const parser = createParsePool(createBufferPool(), { threads: parseThreads(), facts: factsOf([runes]) });
    const refs = await source.refs();
    const parsed: ParsedBlock[] = [];
    for await (const block of parser.blocks(source, refs, testFingerprintKey, signal)) parsed.push(block);
    const deaf = { query: () => Promise.reject(new Error('no statement is sent')) } as unknown as pg.Client;
    const derived = new DerivedBatch([{ table: runes, fromHeight: asHeight(0) }], chain, memories);
    await expect(derived.ask(deaf, parsed)).resolves.toBeUndefined();
    await parser.close();
  });
});
