import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAccount, insertKey, listKeys, revokeKeys } from '#accounts/account.store.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { KeyDirectory } from '#accounts/key-directory.ts';
import { type KeyTerms, usualTerms } from '#kernel/contracts/asking-key.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const migration = (name: string): Promise<string> => readFile(`migrations/service/${name}.sql`, 'utf8');

test('keys of an earlier version keep their scope and their rate', async () => {
  const { pool } = database;
  await pool.query('DROP FUNCTION service.keys_by_hash, service.list_withdrawal_address');
  await pool.query(
    `DROP TABLE service.test_payments, service.token_decisions, service.token_credit_runes, service.token_credits, service.token_charges, service.token_order_fees, service.token_orders,
       service.mint_rune_prices, service.console_actions, service.console_sessions, service.watch_findings, service.watches,
       service.withdrawals, service.withdrawal_addresses, service.token_balances, service.uploaded_files, service.key_usage, service.keys, service.accounts,
       service.rate_limits`,
  );
  await pool.query(await migration('0002_access'));
  const { prefix, hash } = newApiKey();
  await insertAccount(pool, 'alice');
  await pool.query(
    `INSERT INTO service.keys (account, hash, prefix, scope, rate_per_minute) VALUES ('alice', $1, $2, 'tokenpay', 42)`,
    [hash, prefix],
  );
  await pool.query(await migration('0004_scopes_and_rates'));
  await pool.query(await migration('0031_key_terms'));
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
  await insertKey(pool, first, { account: 'bob', scopes: ['search', 'orders'], rate, terms: usualTerms });
  await insertKey(pool, second, { account: 'bob', scopes: ['admin'], rate: null, terms: usualTerms });
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

test('a key keeps its prices and limits, and everyone who knows the key can read them', async () => {
  const { pool } = database;
  const terms: KeyTerms = {
    baseFee: 0,
    directBaseFee: 100_000_000,
    discounts: [
      { parameter: 'baseFee', discount: 1, type: 'fixed' },
      { parameter: 'rareSatsFee', discount: 33.33, type: 'percentage' },
      { parameter: 'collectionServiceFee', discount: 100, type: 'percentage' },
    ],
    reservedMax: 2000,
  };
  const { key, prefix, hash } = newApiKey();
  await insertAccount(pool, 'shop');
  const made = await insertKey(
    pool,
    { prefix, hash },
    { account: 'shop', scopes: ['orders'], rate: null, terms },
  );
  expect(made.terms).toEqual(terms);
  const found = await new KeyDirectory(pool).find(hash);
  expect(found).toEqual({
    kind: 'known',
    id: made.id,
    account: 'shop',
    hash: createHash('sha256').update(key).digest('hex'),
    scopes: ['orders'],
    rate: null,
    terms,
  });
});

test.each([
  { base_fee: -1 },
  { direct_base_fee: 100_000_001 },
  { reserved_max: 0 },
  { reserved_max: 2001 },
  { base_fee_off: 0 },
  { rare_sats_fee_percent_off: 0 },
  { collection_service_fee_percent_off: 100.01 },
  { base_fee_off: 1, base_fee_percent_off: 1 },
])('the database refuses the terms %o', async (terms) => {
  const { prefix, hash } = newApiKey();
  const insert = database.pool.query(
    `INSERT INTO service.keys (account, hash, prefix, scopes, burst, per_seconds, ${Object.keys(terms).join(', ')})
     VALUES ('bob', $1, $2, '{orders}', 0, 60, ${Object.values(terms).join(', ')})`,
    [hash, prefix],
  );
  await expect(insert).rejects.toMatchObject({ code: '23514' });
});
