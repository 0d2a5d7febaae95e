import { afterAll, beforeAll, expect, test } from 'vitest';
import { OrdLists } from '#chain/inscriptions/ord-lists.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await insertChain(database.pool, [{ height: 0, rows: [{ name: 'one', body: 'a' }] }], 'regtest');
});

afterAll(() => database.drop());

test('who waits for lists that are being made holds no connection', async () => {
  const pool = createPool(database.url);
  const lists = new OrdLists();
  expect(lists.ofTip).toBeNull();
  await Promise.all(Array.from({ length: 20 }, () => lists.bringUpToDate(pool, null)));
  expect(pool.totalCount).toBe(1);
  expect(lists.ofTip).toMatchObject({ height: 0 });
  expect(await withSnapshot(pool, async ({ tip }) => lists.areOf(tip), null)).toBe(true);
  await pool.end();
});

test('lists that could not be made are made by the next question', async () => {
  const gone = createPool(database.url);
  await gone.end();
  const lists = new OrdLists();
  await expect(lists.bringUpToDate(gone, null)).rejects.toThrow(Error);
  await lists.bringUpToDate(database.pool, null);
  expect(lists.ofTip).toMatchObject({ height: 0 });
});
