import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { spentFaults } from '#tokenpay/audit/token-faults.queries.ts';

let database: TestDatabase;
let [coins, spends]: pg.PoolClient[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  [coins, spends] = [await database.pool.connect(), await database.pool.connect()];
});
afterAll(async () => {
  coins!.release();
  spends!.release();
  await database.drop();
});

/** A coin of accounts, named by a number. */
const keep = (coin: number) =>
  coins!.query(
    `INSERT INTO service.wallet_coins (txid, vout, value, branch, key_index, kind, held, why)
     VALUES (sha256('coin'), $1, 1000, 0, 1, 'fund', 'accounts', 'fund')`,
    [coin],
  );
const drop = (coin: number) => coins!.query('DELETE FROM service.wallet_coins WHERE vout = $1', [coin]);
const spend = async (coin: number, family: string): Promise<void> => {
  await spends!.query(
    `INSERT INTO service.wallet_transactions (txid, kind, index, files, bytes, plan, fee, own_index)
     VALUES (sha256($1::bytea), 'bump', 0, 0, '\\x00', '{"inputs": []}', 1, 1) ON CONFLICT DO NOTHING`,
    [family],
  );
  await spends!.query(
    `INSERT INTO service.wallet_spends (txid, vout, family) VALUES (sha256('coin'), $1, sha256($2::bytea))
     ON CONFLICT (txid, vout, family) DO UPDATE SET ended_at = NULL`,
    [coin, family],
  );
};
const end = (coin: number) =>
  spends!.query('UPDATE service.wallet_spends SET ended_at = now() WHERE vout = $1', [coin]);
const isSpent = async (coin: number): Promise<boolean | undefined> => {
  const { rows } = await database.pool.query<{ is_spent: boolean }>(
    'SELECT is_spent FROM service.wallet_coins WHERE vout = $1',
    [coin],
  );
  return rows[0]?.is_spent;
};

test('a coin is spent while a transaction that may be mined spends it', async () => {
  await keep(1);
  await keep(2);
  expect(await isSpent(1)).toBe(false);
  await spend(1, 'first');
  expect([await isSpent(1), await isSpent(2)]).toEqual([true, false]);
  await end(1);
  expect(await isSpent(1)).toBe(false);
  // a transaction of another family spends the coin, and then one of the first family again
  await spend(1, 'second');
  expect(await isSpent(1)).toBe(true);
  await end(1);
  await spend(1, 'first');
  expect(await isSpent(1)).toBe(true);
});

test('a coin that returns knows the transaction that spends it', async () => {
  await keep(3);
  await spend(3, 'third');
  await drop(3);
  await keep(3);
  expect(await isSpent(3)).toBe(true);
  await drop(3);
  await end(3);
  await keep(3);
  expect(await isSpent(3)).toBe(false);
});

test('a spend that ends while its coin returns frees it', async () => {
  await spend(4, 'fourth');
  await coins!.query('BEGIN');
  await keep(4);
  const ended = end(4);
  await waitUntil(
    async () => {
      const { rowCount } = await database.pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return (rowCount ?? 0) > 0;
    },
    { limitMs: 20_000, everyMs: 20 },
  );
  await coins!.query('COMMIT');
  await ended;
  expect(await isSpent(4)).toBe(false);
});

test('the audit names a coin with a wrong note', async () => {
  expect(await spentFaults(coins!)).toEqual([]);
  await keep(5);
  await coins!.query('UPDATE service.wallet_coins SET is_spent = true WHERE vout = 5');
  expect(await spentFaults(coins!)).toMatchObject([{ kind: 'spent', noted: 1n, found: 0n }]);
  await drop(5);
});
