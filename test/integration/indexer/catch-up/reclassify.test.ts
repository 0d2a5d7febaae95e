import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { replaceCollection } from '#market/collections/collection.store.ts';
import { findMarketCollection } from '#market/collections/market-slug.store.ts';
import { readCollectionSales } from '#market/sales/collection-sales.store.ts';
import { SaleLists } from '#market/sales/sale-lists.ts';
import { pageOfSales } from '#market/sales/sale-places.ts';
import type { Marker } from '#search/elastic/server/marker.ts';
import { readBlockUpTo, readPosition } from '#search/sync/outbox.ts';
import { planStep } from '#search/sync/sync-plan.ts';
import type { TestDatabase } from '#test/support/database.ts';
import { ageSales, bestHeight, forkHeight, SoldChain } from '#test/support/sales/sold-chain.ts';

const chain = new SoldChain('reclassify');

interface State {
  readonly is_followed: boolean;
  readonly is_remade: boolean;
  readonly rules: number;
  readonly tip_height: number | null;
  readonly problem_code: string | null;
}

async function stateOf({ pool }: TestDatabase): Promise<State> {
  const { rows } = await pool.query<State>(
    `SELECT is_followed, is_remade, rules, tip_height, problem_code FROM chain.derived_tables WHERE name = 'sales'`,
  );
  return rows[0]!;
}

/** Prices of all sales of the table, in the order of the chain. */
async function pricesOf({ pool }: TestDatabase): Promise<number[]> {
  const { rows } = await pool.query<{ price: number }>(
    'SELECT price::float8 AS price FROM chain.sales ORDER BY height, tx_index, input, place',
  );
  return rows.map(({ price }) => price);
}

/** Rows of the outbox that report that the events of a kind were rebuilt. */
async function toldOf({ pool }: TestDatabase): Promise<number[]> {
  const { rows } = await pool.query<{ kind: number }>(
    'SELECT reclassified AS kind FROM chain.outbox WHERE reclassified IS NOT NULL ORDER BY sequence',
  );
  return rows.map(({ kind }) => kind);
}

/** Makes a collection of all inscriptions of a chain. Returns a function that reads the collection's activity. */
async function everything({ pool }: TestDatabase): Promise<(mayWalk?: boolean) => Promise<number[] | null>> {
  const { rows } = await pool.query<{ txid: Buffer; index: number }>(
    'SELECT txid, index FROM chain.inscriptions',
  );
  const ids = rows.map(({ txid, index }) => ({ txid: asTxid(Uint8Array.from(txid)), index }));
  const meta = {
    slug: 'all',
    name: 'All',
    description: null,
    icon: null,
    website: null,
    twitter: null,
    discord: null,
  };
  await withTransaction(pool, (tx) =>
    replaceCollection(
      tx,
      meta,
      ids.map((id) => ({ id, name: null, traits: [] })),
      Buffer.alloc(32),
    ),
  );
  const lists = new SaleLists();
  return (mayWalk = true) =>
    withSnapshot(
      pool,
      async ({ client, tip }) => {
        const collection = (await findMarketCollection(client, 'all'))!;
        const blocks = await lists.read(client, collection, tip!, mayWalk);
        if (blocks === null) return null;
        const all = pageOfSales(blocks, { page: 0, limit: 1_000_000, order: 'asc', since: 0 });
        return (await readCollectionSales(client, collection, all)).map(({ price }) => price);
      },
      null,
    );
}

describe('an index with sales of older rules', () => {
  test('gets the sales of a fresh index, and answers all the time', async () => {
    const database = await chain.indexed({ until: bestHeight - 3 });
    const { pool } = database;
    await ageSales(database);
    const activity = await everything(database);
    const old = await pricesOf(database);
    expect(await activity()).toEqual(old);
    // the writer of a new version begins the rebuild, and adds new blocks by the new rules
    await chain.index(database);
    expect(await stateOf(database)).toMatchObject({
      is_followed: true,
      is_remade: true,
      rules: 3,
      tip_height: null,
    });
    expect((await pricesOf(database)).slice(0, old.length)).toEqual(old);
    expect((await pricesOf(database)).length).toBeGreaterThan(old.length);
    expect(await storedSaleKind.whyNotReadable(pool)).toContain('is being rebuilt by version 3');
    let asked = 0;
    await chain.pass(database, 'best', {
      onProgress: () => {
        asked++;
      },
      bounds: { blocksMax: 3, lookMs: 10 },
    });
    expect(asked).toBeGreaterThan(10);
    expect(await activity()).toEqual(await pricesOf(database));
    expect(await stateOf(database)).toMatchObject({ is_followed: true, is_remade: false, tip_height: null });
    expect(await storedSaleKind.whyNotReadable(pool)).toBeNull();
    expect(await toldOf(database)).toEqual([storedSaleKind.number]);
    await chain.index(database);
    await chain.expectClean(database);
    expect(await chain.verified(database)).toEqual([]);
  });

  test('has lists of sales that equal its rows after each batch, without a walk', async () => {
    const database = await chain.indexed();
    await ageSales(database);
    const activity = await everything(database);
    await chain.index(database);
    expect(await activity()).toEqual(await pricesOf(database));
    const seen = new Set<string>();
    // a batch has five blocks: each read here has at most the twelve that any request may read
    for (let height = 4; height < bestHeight; height += 7) {
      await chain.passTo(database, height);
      const prices = await pricesOf(database);
      const state = await stateOf(database);
      expect(state.is_remade).toBe(true);
      expect(await activity(false)).toEqual(prices);
      seen.add(prices.join());
    }
    expect(seen.size).toBeGreaterThan(2);
    await chain.pass(database, 'best');
    expect(await activity()).toEqual(await pricesOf(database));
    await chain.expectClean(database);
  });

  test('needs a walk for lists of sales after a rebuild of many blocks', async () => {
    const database = await chain.indexed();
    await ageSales(database);
    const activity = await everything(database);
    await chain.index(database);
    await activity();
    await chain.passTo(database, forkHeight);
    expect(await activity(false)).toBeNull();
    const prices = await pricesOf(database);
    expect(await activity()).toEqual(prices);
    expect(await activity(false)).toEqual(prices);
  });

  test('passes verify at any moment', { tags: ['proof'] }, async () => {
    const database = await chain.indexed();
    await ageSales(database);
    await chain.index(database);
    expect(await chain.verified(database)).toEqual([]);
    await chain.passTo(database, forkHeight);
    expect((await stateOf(database)).tip_height).toBeGreaterThanOrEqual(forkHeight);
    expect(await chain.verified(database)).toEqual([]);
    await database.pool.query('UPDATE chain.sales SET price = price + 1 WHERE height <= $1', [forkHeight]);
    expect(await chain.verified(database)).not.toEqual([]);
  });

  test('goes back with the chain above the rebuilt blocks, below them, and to another branch', {
    tags: ['proof'],
  }, async () => {
    for (const [reached, back] of [
      [forkHeight - 10, forkHeight + 5],
      [forkHeight + 10, forkHeight + 2],
      [forkHeight + 10, forkHeight - 12],
    ] as const) {
      const database = await chain.indexed();
      await ageSales(database);
      await chain.index(database);
      await chain.passTo(database, reached);
      await chain.undo(database, asHeight(back));
      const { is_remade: isRemade, tip_height: tip } = await stateOf(database);
      expect(isRemade).toBe(true);
      expect(tip).toBeLessThanOrEqual(back);
      await chain.index(database, { at: 'stale' });
      await chain.pass(database, 'stale');
      await chain.expectClean(database, { at: 'stale' });
      // all these databases have the same rows by now
      if (back === forkHeight - 12) expect(await chain.verified(database, 'stale')).toEqual([]);
    }
  });

  test('stops while sales are not wanted, and resumes later', async () => {
    const database = await chain.indexed();
    await ageSales(database);
    await chain.index(database);
    await chain.passTo(database, forkHeight);
    await chain.index(database, { indexSales: false, until: 0 });
    const { tip_height: tip } = await stateOf(database);
    expect(await stateOf(database)).toMatchObject({ is_followed: false, is_remade: true });
    await chain.undo(database, asHeight(bestHeight - 2));
    await chain.index(database, { indexSales: false });
    await chain.index(database);
    expect(await stateOf(database)).toMatchObject({ is_followed: false, is_remade: true, tip_height: tip });
    await chain.pass(database, 'best');
    await chain.index(database);
    await chain.expectClean(database);
  });

  test('keeps old sales if the source lacks the spent outputs, with the reason in the table', async () => {
    const database = await chain.indexed();
    await ageSales(database);
    await chain.index(database);
    const { pool } = database;
    const { rows } = await pool.query<{ height: number }>(
      'SELECT max(height) AS height FROM chain.sales WHERE height % 7 <> 1',
    );
    const { height } = rows[0]!;
    const spent = join(chain.dirs.best, 'spent');
    const name = (await readdir(spent)).find((file) => Number(file.slice(0, 7)) === height)!;
    await rename(join(spent, name), join(chain.dirs.best, name));
    const told: string[] = [];
    await chain.pass(database, 'best', {
      onProblem: ({ message }, delayMs) => told.push(`${message} ${delayMs}`),
    });
    await rename(join(chain.dirs.best, name), join(spent, name));
    expect(told).toEqual([
      expect.stringMatching(new RegExp(`lacks the outputs that block ${height} spends.* null$`, 'u')),
    ]);
    expect(await stateOf(database)).toMatchObject({ is_remade: true, problem_code: 'block_unavailable' });
    const kept = await pool.query('SELECT FROM chain.sales WHERE height = $1 AND rules = 1', [height]);
    expect(kept.rowCount).toBeGreaterThan(0);
    // the next start resumes
    await chain.pass(database, 'best');
    await chain.expectClean(database);
  });
});

describe('the outbox row of a rebuild', () => {
  test('is not a block for the index of the search server, which skips it', async () => {
    const database = await chain.indexed({ until: forkHeight });
    const held = await database.pool.connect();
    try {
      const { sequence, tip, nextKey, epoch } = await readBlockUpTo(held, 2 ** 31 - 1, 1e9);
      expect(tip?.height).toBe(forkHeight);
      await chain.remake(database);
      await chain.pass(database, 'best');
      const { database: name } = (await readPosition(held, { sequence: 0 } as Marker))!;
      const common = { state: 'complete', rewinds: 0, phrases: [], isMerged: true } as const;
      const marker: Marker = { ...common, database: name, epoch, sequence, tip, nextKey };
      const step = planStep(marker, (await readPosition(held, marker))!, 1_000);
      expect(step).toEqual({ kind: 'advance', marker: { ...marker, sequence: sequence + 1 } });
      if (step.kind !== 'advance') return;
      expect(planStep(step.marker, (await readPosition(held, step.marker))!, 1_000)).toEqual({
        kind: 'nothing',
      });
      // index later blocks, and undo them
      await chain.index(database, { until: forkHeight + 1 });
      const later = planStep(step.marker, (await readPosition(held, step.marker))!, 1_000);
      expect(later).toMatchObject({ kind: 'advance', marker: { tip: { height: forkHeight + 1 } } });
      await chain.undo(database, asHeight(forkHeight - 1));
      const back = planStep(step.marker, (await readPosition(held, step.marker))!, 1_000);
      expect(back).toMatchObject({ kind: 'rewind', marker: { tip: { height: forkHeight - 1 } } });
    } finally {
      held.release();
    }
  });
});

describe('sales of the same rules', () => {
  test('are rebuilt by hand, once, and a rebuild under way is resumed', async () => {
    const database = await chain.indexed();
    await database.pool.query('UPDATE chain.sales SET price = price + 1');
    expect(await chain.remake(database)).toBe('begun');
    await chain.passTo(database, forkHeight);
    const { tip_height: tip } = await stateOf(database);
    expect(await chain.remake(database)).toBe('resumed');
    expect((await stateOf(database)).tip_height).toBe(tip);
    await chain.pass(database, 'best');
    await chain.expectClean(database);
    expect(await toldOf(database)).toEqual([2]);
    const client = await database.pool.connect();
    expect(await missingIndexes(client)).not.toContain('sales_key');
    client.release();
  });

  test('are filled into an index without sales, without a message to consumers', async () => {
    const database = await chain.indexed({ until: forkHeight, indexSales: false });
    expect(await pricesOf(database)).toEqual([]);
    await chain.index(database);
    await chain.pass(database, 'best');
    await chain.index(database);
    expect(await toldOf(database)).toEqual([]);
    await chain.expectClean(database);
  });

  test('of a later version are refused', async () => {
    const database = await chain.indexed();
    await database.pool.query(`UPDATE chain.derived_tables SET rules = 4 WHERE name = 'sales'`);
    await expect(chain.remake(database)).rejects.toMatchObject({ code: 'database_newer' });
    await expect(chain.index(database)).rejects.toMatchObject({ code: 'database_newer' });
    expect(await storedSaleKind.whyNotReadable(database.pool)).toContain('version 4');
  });
});
