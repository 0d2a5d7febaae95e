import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAccount, insertKey, listKeys, revokeKeys } from '#accounts/account.store.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { KeyDirectory } from '#accounts/key-directory.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const migration = (name: string): Promise<string> => readFile(`migrations/service/${name}.sql`, 'utf8');

test('keys of before keep their scope and their rate', async () => {
  const { pool } = database;
  await pool.query('DROP TABLE service.key_usage, service.keys, service.accounts, service.rate_limits');
  await pool.query(await migration('0002_access'));
  const { prefix, hash } = newApiKey();
  await insertAccount(pool, 'alice');
  await pool.query(
    `INSERT INTO service.keys (account, hash, prefix, scope, rate_per_minute) VALUES ('alice', $1, $2, 'tokenpay', 42)`,
    [hash, prefix],
  );
  await pool.query(await migration('0004_scopes_and_rates'));
  const kept = { scopes: ['tokenpay'], rate: { burst: 42, perSeconds: 60 } };
  expect(await listKeys(pool, 'alice')).toMatchObject([kept]);
  expect(await new KeyDirectory(pool).find(hash)).toMatchObject(kept);
});

test('a key has several scopes, any rate or none, and is revoked by one of its scopes', async () => {
  const { pool } = database;
  await insertAccount(pool, 'bob');
  const first = newApiKey();
  const second = newApiKey();
  const rate = { burst: 2, perSeconds: 10 };
  await insertKey(pool, first, { account: 'bob', scopes: ['search', 'orders'], rate });
  await insertKey(pool, second, { account: 'bob', scopes: ['admin'], rate: null });
  const found = { scopes: ['search', 'orders'], rate };
  expect(await new KeyDirectory(pool).find(first.hash)).toMatchObject(found);
  expect(await new KeyDirectory(pool).find(second.hash)).toMatchObject({ scopes: ['admin'], rate: null });
  expect(await listKeys(pool, 'bob')).toMatchObject([found, { scopes: ['admin'], rate: null }]);
  expect(await revokeKeys(pool, { account: 'bob', scopes: ['orders', 'tokenpay'], key: null })).toMatchObject(
    [found],
  );
  expect(await new KeyDirectory(pool).find(first.hash)).toBeNull();
  expect(await new KeyDirectory(pool).find(second.hash)).not.toBeNull();
});

test.each([
  { scopes: [], burst: 1 },
  { scopes: ['all'], burst: 1 },
  { scopes: ['search'], burst: -1 },
])('the database refuses %o', async ({ scopes, burst }) => {
  const { prefix, hash } = newApiKey();
  const insert = database.pool.query(
    `INSERT INTO service.keys (account, hash, prefix, scopes, burst, per_seconds) VALUES ('bob', $1, $2, $3, $4, 60)`,
    [hash, prefix, scopes, burst],
  );
  await expect(insert).rejects.toMatchObject({ code: '23514' });
});
