import fc from 'fast-check';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { satRangesOf } from '#chain/sats/sat-ranges.queries.ts';
import { traceSpent } from '#indexer/derived/sats/trace-spent.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import { rollback } from '#indexer/follow/rollback.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { verifyChain } from '#indexer/verify/verify-chain.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { comparisonWith } from '#test/support/chain/chain-dump.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { indexFolder, indexTests } from '#test/support/chain/index-tests.ts';
import { RuneSource } from '#test/support/chain/runes/rune-source.ts';
import type { FedBlock } from '#test/support/chain/runes/rune-store.ts';
import { PastOfBlocks } from '#test/support/chain/sats/past-of-blocks.ts';
import { RandomSatChain } from '#test/support/chain/sats/random-sat-chain.ts';
import { SatStore } from '#test/support/chain/sats/sat-store.ts';
import { readSatTables, satTablesOf } from '#test/support/chain/sats/sat-tables.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyBounds, sampleStep } from '#test/support/property-runs.ts';

const billion = 1_000_000_000;
const { freshDatabase, folderOf } = indexTests();
const { signal } = new AbortController();

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
    indexSats: true,
    ...options,
  });

const differences = async (pool: pg.Pool, source: BlockSource) =>
  (await verifyChain({ source, pool, signal, threads: parseThreads(), differencesMax: 9 })).differences;

interface OrdSat {
  readonly sat: number | null;
}

/** Batch sizes. Each chain uses one of them, or all in a long run. */
const sizes = [1000, 7, 1];

describe.each(goldenChainNames)('%s', (name) => {
  const golden = new GoldenChain(name);
  const place = goldenChainNames.indexOf(name);
  const tried = sizes.filter((_, at) => (place + at) % sampleStep(3) === 0);

  test.each(tried)('has the sats of ord at each tip, in batches of %i', async (blocksMax) => {
    const dir = folderOf(golden);
    const { pool } = await freshDatabase();
    for (const tip of golden.tips()) {
      // the unit tests of the ledger compare this store with ord's responses
      const store = new SatStore();
      store.apply(tip.headers.map((header) => golden.block(header)));
      await indexFolder(pool, dir, {
        tip: tip.tip,
        indexSats: true,
        bounds: { blocksMax, load: { blocksMin: 2, blocksMax } },
      });
      expect(await readSatTables(pool)).toEqual(satTablesOf(store));
      const ords = golden.satAnswers<OrdSat>(tip, 'inscription-sats');
      expect(await inscribedSats(pool)).toEqual(
        Object.fromEntries(ords.flatMap(({ key, value }) => (value?.sat == null ? [] : [[key, value.sat]]))),
      );
    }
    if (name === 'reorg-1')
      expect(
        await differences(pool, await openFolderSource(dir, { tip: golden.tips().at(-1)!.tip })),
      ).toEqual([]);
  });
});

async function inscribedSats(pool: pg.Pool): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ txid: Buffer; index: number; sat: number }>(
    'SELECT i.txid, i.index, s.sat FROM chain.sats s JOIN chain.inscriptions i ON i.key = s.key',
  );
  return Object.fromEntries(
    rows.map(({ txid, index: at, sat }) => [`${Buffer.from(txid).reverse().toString('hex')}i${at}`, sat]),
  );
}

/** A random chain in a source, with its store. */
class RandomSats {
  readonly source = new RuneSource();
  readonly store = new SatStore();
  readonly chain: RandomSatChain;
  readonly #branch: FedBlock[] = [];

  constructor(seed: string, grain = 1) {
    this.chain = new RandomSatChain(seed, grain);
  }

  grow(blocks: number): void {
    for (let block = 0; block < blocks; block++) {
      const fed = this.source.push(this.chain.push());
      this.#branch.push(fed);
      this.store.apply([fed]);
    }
  }

  goBack(blocks: number): void {
    for (let block = 0; block < blocks; block++) {
      this.chain.pop();
      this.store.undo();
      this.source.pop();
      this.#branch.pop();
    }
  }

  /** The present chain, for a node that keeps this chain after a reorganisation. */
  past(): PastOfBlocks {
    return new PastOfBlocks(this.#branch);
  }
}

/**
 * Random sats in this number of blocks, without two equal coinbases (BIP 30). Their coins are often cut where they were
 * cut before.
 */
function withoutTwins(text: string, blocks: number): RandomSats {
  for (let serial = 0; ; serial++) {
    const random = new RandomSats(`${text} ${serial}`, billion);
    random.grow(blocks);
    if (random.store.totals.replacedSats === 0) return random;
  }
}

describe('random chains', () => {
  test('are indexed as by the ledger, through restarts and reorganisations, and pass verify', async () => {
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
        const random = new RandomSats(`tables ${seed}`);
        const { pool } = await freshDatabase();
        for (const { back, blocks, blocksMax } of walk) {
          const depth = Math.min(back, random.chain.height);
          random.goBack(depth);
          random.grow(depth + blocks);
          await index(pool, random.source, blocksMax, { satsKeepBlocks: 20 });
          expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
        }
        expect(await differences(pool, random.source)).toEqual([]);
      }),
      propertyBounds(4),
    );
  });

  test('of a first load get the rows of the ledger, however small memory is and wherever it is interrupted', {
    tags: ['proof'],
  }, async () => {
    const loads = fc.record({
      seed: fc.nat(),
      blocksMax: fc.integer({ min: 1, max: 9 }),
      cacheEntries: fc.constantFrom(1, 30, 100_000),
      commits: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(loads, async ({ seed, blocksMax, cacheEntries, commits }) => {
        const random = new RandomSats(`first load ${seed}`);
        random.grow(60);
        const { pool } = await freshDatabase();
        const bounds = { blocksMax, cacheEntries, load: { blocksMin: 2, blocksMax } };
        for (const count of commits) {
          const interrupted = new AbortController();
          let left = count;
          const onCommit = (): void => {
            if (--left === 0) interrupted.abort();
          };
          await index(pool, random.source, blocksMax, {
            bounds,
            onCommit,
            satsKeepBlocks: 12,
            signal: interrupted.signal,
          });
          expect(await differences(pool, random.source)).toEqual([]);
        }
        await index(pool, random.source, blocksMax, { bounds, satsKeepBlocks: 12 });
        expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
        expect((await pool.query('SELECT FROM chain.recent_sats')).rowCount).toBe(0);
        random.goBack(12);
        random.grow(13);
        await index(pool, random.source, 1, { satsKeepBlocks: 12 });
        expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
        expect(await differences(pool, random.source)).toEqual([]);
      }),
      propertyBounds(3),
    );
  });

  test('of an output are hidden until a first load has the rows of all outputs', async () => {
    const random = new RandomSats('half a load');
    random.grow(60);
    const { pool } = await freshDatabase();
    const interrupted = new AbortController();
    await index(pool, random.source, 7, {
      onCommit: ({ position }) => {
        if ((position.tip?.height ?? 0) > 20) interrupted.abort();
      },
      satsKeepBlocks: 12,
      signal: interrupted.signal,
    });
    expect((await pool.query('SELECT FROM chain.recent_sats')).rowCount).toBeGreaterThan(0);
    const client = await pool.connect();
    try {
      expect((await satRangesOf(client, [])).of({ txid: asTxid(new Uint8Array(32)), vout: 0 })).toBeNull();
      await index(pool, random.source, 7, { satsKeepBlocks: 12 });
      expect((await satRangesOf(client, [])).of({ txid: asTxid(new Uint8Array(32)), vout: 0 })).toEqual([]);
    } finally {
      client.release();
    }
  });

  test('of a load that ends far below the tip have all rows', async () => {
    const random = new RandomSats('until');
    random.grow(30);
    const { pool } = await freshDatabase();
    const stop = 30;
    const store = satTablesOf(random.store);
    random.grow(30);
    await index(pool, random.source, 7, { satsKeepBlocks: 12, until: asHeight(stop - 1) });
    expect(await readSatTables(pool)).toEqual(store);
    // the newest blocks of this index can be taken back without a node
    expect((await pool.query('SELECT FROM chain.spent_sats')).rowCount).toBe(12);
    expect(await rollback({ pool, network: 'regtest', height: asHeight(stop - 13), signal })).toMatchObject({
      blocks: 12,
    });
  });

  test('have the rows of a clean index after reorganisations down to the kept depth', {
    tags: ['proof'],
  }, async () => {
    const random = new RandomSats('reorganised');
    random.grow(60);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 1000, { satsKeepBlocks: 40 });
    for (const depth of [1, 12, 40]) {
      random.goBack(depth);
      random.grow(depth + 1);
      await index(pool, random.source, 1, { satsKeepBlocks: 40 });
      expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
    }
    const clean = await freshDatabase();
    await index(clean.pool, random.source, 7, { satsKeepBlocks: 40 });
    const { rows } = await pool.query('SELECT outputs FROM chain.spent_sats ORDER BY height');
    const expected = await clean.pool.query('SELECT outputs FROM chain.spent_sats ORDER BY height');
    expect(rows).toEqual(expected.rows);
    expect(rows).toHaveLength(40);
    expect(await differences(pool, random.source)).toEqual([]);
  });

  test('stay as they were if a reorganisation is deeper', async () => {
    const random = new RandomSats('too deep');
    random.grow(30);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 7, { satsKeepBlocks: 10 });
    const compare = await comparisonWith(pool);
    random.goBack(11);
    random.grow(12);
    await expect(index(pool, random.source, 7, { satsKeepBlocks: 10 })).rejects.toMatchObject({
      code: 'sats_forgotten',
      details: { height: 19 },
    });
    expect(await compare(pool)).toEqual([]);
  });
});

describe('reorganisations below the kept depth', () => {
  const keep = { satsKeepBlocks: 6 };

  test('trace again what their blocks spent', { tags: ['proof'] }, async () => {
    let steps = 0;
    for (const depth of [7, 16, 39]) {
      const random = withoutTwins(`deep ${depth}`, 40);
      const { pool } = await freshDatabase();
      await index(pool, random.source, 7, keep);
      const past = random.past();
      random.goBack(depth);
      random.grow(depth + 2);
      await index(pool, random.source, 7, { ...keep, openPast: () => past });
      expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
      expect(await differences(pool, random.source)).toEqual([]);
      steps += past.steps;
    }
    expect(steps).toBeGreaterThan(20);
  });

  test('rebuild the rows that the blocks had made', async () => {
    const random = withoutTwins('rows', 30);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 7);
    const read = async (): Promise<unknown[]> => {
      const { rows } = await pool.query<{ outputs: Buffer }>(
        'SELECT outputs FROM chain.spent_sats WHERE height = 29',
      );
      return rows;
    };
    const made = await read();
    const client = await pool.connect();
    const tip = (await random.source.refs()).at(-1)!;
    await client.query('DELETE FROM chain.spent_sats');
    await traceSpent(client, tip, random.past());
    client.release();
    expect(await read()).toEqual(made);
  });

  test('are possible after a first load that was interrupted, and by a rollback', {
    tags: ['proof'],
  }, async () => {
    const random = withoutTwins('half a deep load', 60);
    const { pool } = await freshDatabase();
    const interrupted = new AbortController();
    await index(pool, random.source, 7, {
      ...keep,
      onCommit: ({ position }) => {
        if ((position.tip?.height ?? 0) > 20) interrupted.abort();
      },
      signal: interrupted.signal,
    });
    const past = random.past();
    const to = asHeight(5);
    const network = 'regtest';
    await expect(rollback({ pool, network, height: to, signal, past })).rejects.toMatchObject({
      code: 'sats_forgotten',
      message: expect.stringContaining('interrupted') as string,
    });
    random.goBack(50);
    random.grow(53);
    await index(pool, random.source, 7, { ...keep, openPast: () => past });
    expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
    const later = random.past();
    random.goBack(40);
    expect(await rollback({ pool, network, height: asHeight(22), signal, past: later })).toMatchObject({
      blocks: 40,
    });
    expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
  });

  test('are refused before they begin if the past is unknown, or if a coinbase replaced another one', async () => {
    const random = withoutTwins('pruned', 30);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 7, keep);
    const compare = await comparisonWith(pool);
    const past = random.past();
    random.goBack(20);
    random.grow(21);
    // one node no longer has these blocks, and another node has them but has pruned the blocks below
    for (const [prunedBelow, block] of [
      [15, 10],
      [5, 1],
    ] as const) {
      past.prunedBelow = prunedBelow;
      await expect(index(pool, random.source, 7, { ...keep, openPast: () => past })).rejects.toMatchObject({
        code: 'sats_forgotten',
        message: expect.stringContaining(`Block ${block} is missing`) as string,
      });
      expect(await compare(pool)).toEqual([]);
    }
    const twins = new RandomSats('twins');
    while (twins.store.totals.replacedSats === 0) twins.grow(1);
    twins.grow(8);
    const other = await freshDatabase();
    await index(other.pool, twins.source, 7, keep);
    await expect(
      rollback({ pool: other.pool, network: 'regtest', height: asHeight(0), signal, past: twins.past() }),
    ).rejects.toMatchObject({ code: 'sats_forgotten', message: expect.stringContaining('BIP 30') as string });
  });

  test('end between blocks if the past becomes unreachable, and resume later', async () => {
    const random = withoutTwins('cut off', 30);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 7, keep);
    const past = random.past();
    random.goBack(20);
    random.grow(21);
    let calls = 0;
    const cutOff: PastChain = {
      transactions: (ref) => past.transactions(ref),
      cuts: async (places) => {
        if (++calls === 5) throw new AppError('node_unreachable', 'The node is gone.');
        return past.cuts(places);
      },
    };
    await index(pool, random.source, 7, { ...keep, openPast: () => cutOff });
    expect(calls).toBeGreaterThan(5);
    expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
  });
});

describe('the tables', () => {
  test('exist from the first block on or never', async () => {
    const random = new RandomSats('from the first block');
    random.grow(5);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 7, { indexSats: false });
    expect(await readSatTables(pool)).toEqual({ ranges: {}, lost: [], lostSats: 0, rare: {} });
    random.grow(1);
    await expect(index(pool, random.source, 7)).rejects.toMatchObject({
      code: 'sat_index_fixed',
      details: { wanted: true },
    });
    const other = await freshDatabase();
    await index(other.pool, random.source, 7);
    random.grow(1);
    await expect(index(other.pool, random.source, 7, { indexSats: false })).rejects.toMatchObject({
      code: 'sat_index_fixed',
      details: { wanted: false },
    });
  });

  test('need every block', async () => {
    const random = new RandomSats('gaps');
    random.grow(9);
    const { pool } = await freshDatabase();
    const gap = random.source.without(
      (height) => height === 4,
      () => true,
    );
    await expect(index(pool, gap, 1)).rejects.toMatchObject({ code: 'sat_index_gap' });
    const { rows } = await pool.query<{ height: number }>('SELECT max(height) AS height FROM chain.blocks');
    expect(rows[0]?.height).toBe(3);
  });

  test('need no spent outputs', async () => {
    const random = new RandomSats('without spent outputs');
    random.grow(20);
    const source = random.source.without(
      () => false,
      () => false,
    );
    const { pool } = await freshDatabase();
    await index(pool, source, 6);
    expect(await readSatTables(pool)).toEqual(satTablesOf(random.store));
  });

  test('pass verify, also when the spends of a block are no longer known', async () => {
    const random = new RandomSats('compared');
    random.grow(20);
    const { pool } = await freshDatabase();
    await index(pool, random.source, 6, { satsKeepBlocks: 10 });
    expect(await differences(pool, random.source)).toEqual([]);
    const wrong = [
      'UPDATE chain.sat_ranges SET ranges = set_byte(ranges, 0, get_byte(ranges, 0) # 1) WHERE height = 19',
      'DELETE FROM chain.sat_ranges WHERE height = 19',
      'UPDATE chain.sat_ranges SET ranges = set_byte(ranges, 9, get_byte(ranges, 9) # 1) WHERE height < 9',
      'UPDATE chain.rare_sats SET sat_offset = sat_offset + 1 WHERE height = 19',
      'DELETE FROM chain.lost_sats WHERE height > 12',
      'INSERT INTO chain.sats (key, sat) VALUES (7, 7)',
      "INSERT INTO chain.lost_sats (height, lost_sats, replaced_sats, ranges) VALUES (99, 0, 0, '')",
    ];
    const client = await pool.connect();
    for (const statement of wrong) {
      const bringBack = await keep(client);
      expect((await client.query(statement)).rowCount).toBeGreaterThan(0);
      expect((await differences(pool, random.source)).length, statement).toBeGreaterThan(0);
      await bringBack();
    }
    client.release();
    expect(await differences(pool, random.source)).toEqual([]);
  });
});

const tables = ['sat_ranges', 'sats', 'rare_sats', 'lost_sats', 'spent_sats'];

/** Copies the tables, and returns a function that restores them. */
async function keep(client: pg.ClientBase): Promise<() => Promise<void>> {
  for (const table of tables) await client.query(`CREATE TEMP TABLE kept_${table} AS TABLE chain.${table}`);
  return async () => {
    for (const table of tables) {
      await client.query(`TRUNCATE chain.${table}`);
      await client.query(`INSERT INTO chain.${table} SELECT * FROM kept_${table}`);
      await client.query(`DROP TABLE kept_${table}`);
    }
  };
}
