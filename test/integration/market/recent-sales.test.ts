import { afterAll, beforeAll, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type PeriodSums, RecentSales, type RecentSums } from '#market/sales/recent-sales.ts';
import { insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { importItems } from '#test/support/market/market-app.ts';

const daySeconds = 86_400;
const lastTime = 1_700_000_000;
/** Number of blocks. There is one block a day, and the last block is the tip. */
const blocks = 36;
const tipHeight = blocks - 1;
const txid = Buffer.alloc(32, 0xab);
const id = `${'ab'.repeat(32)}i0`;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  await insertChain(
    pool,
    // three of these blocks are after the tip, and their time has not come
    Array.from({ length: blocks + 3 }, (_, height) => ({
      height,
      rows: height === tipHeight ? [{ name: 'sold' }] : [],
    })),
  );
  await pool.query('UPDATE chain.blocks SET time = $1 + (height - $2) * $3', [
    lastTime,
    tipHeight,
    daySeconds,
  ]);
  await pool.query(
    `INSERT INTO chain.derived_tables (name, from_height, is_followed, is_remade) VALUES ('sales', 0, true, true)`,
  );
});
afterAll(() => database.drop());

const endsWith = (height: number): Promise<unknown> =>
  database.pool.query(
    'UPDATE chain.state SET tip_height = $1, tip_hash = (SELECT hash FROM chain.blocks WHERE height = $1)',
    [height],
  );

/** Sets the progress of a rebuild of sales, which is a height, or null before the first block. */
const reaches = (height: number | null): Promise<unknown> =>
  database.pool.query(
    `UPDATE chain.derived_tables SET is_remade = true, tip_height = $1,
       tip_hash = (SELECT hash FROM chain.blocks WHERE height = $1) WHERE name = 'sales'`,
    [height],
  );

const read = (recent: RecentSales, mayWalk: boolean): Promise<RecentSums | null | 'walk'> =>
  withSnapshot(database.pool, ({ client, tip }) => recent.read(client, tip!, mayWalk), null);

const known = async (recent: RecentSales, mayWalk: boolean): Promise<RecentSums> => {
  const sums = await read(recent, mayWalk);
  if (sums === null || sums === 'walk') throw new Error(`no sums: ${sums ?? 'null'}`);
  return sums;
};

test('the month is walked again for each new row of its blocks, and not for older blocks', async () => {
  await database.pool.query('DELETE FROM chain.sales');
  await database.pool.query('DELETE FROM service.market_collections');
  await endsWith(tipHeight);
  const recent = new RecentSales();
  await reaches(null);
  expect(await read(recent, false)).toBe('walk');
  await read(recent, true);
  // the month begins at height 5; by its time, a block of the day before may be later
  for (const height of [0, 1, 2, 3]) {
    await reaches(height);
    expect([height, await read(recent, false)]).toMatchObject([height, { imports: new Map(), days: [] }]);
  }
  for (const height of [5, 6, 20, tipHeight]) {
    await reaches(height);
    expect([height, await read(recent, false)]).toEqual([height, 'walk']);
    await read(recent, true);
    expect([height, await read(recent, false)]).toMatchObject([height, { imports: new Map() }]);
  }
});

test('a day, a week and a month end with the last block, for all and for each import', async () => {
  const { pool } = database;
  await endsWith(blocks);
  await pool.query(
    `UPDATE chain.derived_tables SET is_remade = false, tip_height = NULL, tip_hash = NULL WHERE name = 'sales'`,
  );
  await pool.query('UPDATE chain.inscriptions SET txid = $1, index = 0', [txid]);
  await importItems(database, { slug: 'one' }, [[id, null]]);
  await importItems(database, { slug: 'two' }, [[id, null]]);
  const sell = (height: number, place: number, price: number, wash = false): Promise<unknown> =>
    pool.query(
      `INSERT INTO chain.sales (gross_payout, price, height, tx_index, input, place, key, bundle, payout_output, rules,
         class, form, confidence, sighash, wash, txid, maker)
       SELECT $3, $3, $1, 1, 0, $2, key, 9, 0, 3, 1, 1, 1, 131, $4, $5, '\\x51' FROM chain.inscriptions LIMIT 1`,
      [height, place, price, wash, txid],
    );
  await sell(blocks, 0, 500);
  await sell(blocks, 1, 10, true);
  await sell(blocks - 1, 0, 400);
  await sell(blocks - 2, 0, 300);
  await sell(blocks - 7, 0, 200);
  await sell(blocks - 8, 0, 100);
  await sell(blocks - 30, 0, 50);
  await sell(blocks - 31, 0, 1);
  const recent = new RecentSales();
  const { imports, all, days } = await known(recent, true);
  const sums = (sales: number, volume: number, lowest: number) => ({
    sales,
    volume,
    lowest,
    washSales: 1,
    washVolume: 10,
  });
  const expected: PeriodSums = {
    day: sums(2, 900, 400),
    week: sums(4, 1_400, 200),
    month: sums(6, 1_550, 50),
  };
  expect(all).toEqual(expected);
  expect(imports).toEqual(
    new Map([
      ['one', expected],
      ['two', expected],
    ]),
  );
  expect(days.map(({ volume }) => volume)).toEqual([50, 100, 200, 300, 400, 500]);

  // a new block whose time is before the time of the last block is read alone; sales that are now too old for a span
  // leave it
  await endsWith(blocks + 1);
  await pool.query('UPDATE chain.blocks SET time = $1 WHERE height = $2', [
    lastTime + daySeconds - 7_200,
    blocks + 1,
  ]);
  await sell(blocks + 1, 0, 700);
  const grown = await known(recent, false);
  expect(grown).toEqual(await known(new RecentSales(), true));
  expect(grown.all.day).toMatchObject({ sales: 3, volume: 1_600 });
  await endsWith(blocks + 2);
  await pool.query('UPDATE chain.blocks SET time = $1 WHERE height = $2', [
    lastTime + 9 * daySeconds,
    blocks + 2,
  ]);
  const later = await known(recent, false);
  expect(later).toEqual(await known(new RecentSales(), true));
  expect(later.all.day.sales).toBe(0);
  // an import changes which sales belong to the collection
  await importItems(database, { slug: 'three' }, [[id, null]]);
  expect(await read(recent, false)).toBe('walk');
  expect([...(await known(recent, true)).imports.keys()].toSorted()).toEqual(['one', 'three', 'two']);
});
