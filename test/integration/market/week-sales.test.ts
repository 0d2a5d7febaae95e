import { afterAll, beforeAll, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { WeekSales } from '#market/sales/week-sales.ts';
import { insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

const daySeconds = 86_400;
const lastTime = 1_700_000_000;
/** A block a day; the last one is the tip. */
const blocks = 12;
const tipHeight = blocks - 1;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  await insertChain(
    pool,
    Array.from({ length: blocks }, (_, height) => ({ height, rows: [] })),
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

/** How far sales are made anew: a height, or null before the first block. */
const reaches = (height: number | null): Promise<unknown> =>
  database.pool.query(
    `UPDATE chain.derived_tables SET tip_height = $1,
       tip_hash = (SELECT hash FROM chain.blocks WHERE height = $1) WHERE name = 'sales'`,
    [height],
  );

test('the week is walked again for each new row of its blocks, and not for older blocks', async () => {
  const week = new WeekSales();
  const read = (mayWalk: boolean): Promise<unknown> =>
    withSnapshot(database.pool, ({ client, tip }) => week.read(client, tip!, mayWalk), null);
  await reaches(null);
  expect(await read(false)).toBe('walk');
  await read(true);
  // the week begins at height 4, and a block a day before it may be later by its time
  for (const height of [0, 1, 2]) {
    await reaches(height);
    expect([height, await read(false)]).toEqual([height, new Map()]);
  }
  for (let height = 4; height <= tipHeight; height++) {
    await reaches(height);
    expect([height, await read(false)]).toEqual([height, 'walk']);
    await read(true);
    expect([height, await read(false)]).toEqual([height, new Map()]);
  }
});
