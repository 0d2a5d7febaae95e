import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAccount } from '#accounts/account.store.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { MadeBatch } from '#payouts/following/payout-parts.ts';
import {
  consolidationFees,
  insertConsolidation,
  isConsolidating,
} from '#payouts/payout/consolidations.store.ts';
import { noteStuck, openPayouts, putState } from '#payouts/payout/payout.store.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { readAccountCoins } from '#tokenpay/withdrawing/account-coins.queries.ts';
import { owedToAccounts } from '#tokenpay/withdrawing/owed.queries.ts';
import { readPoorCoins } from '#tokenpay/withdrawing/poor-coins.queries.ts';
import { uncoveredWithdrawals } from '#tokenpay/withdrawing/uncovered.queries.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { putBatchState, reserveWithdrawal, withdrawalsOf } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { partBatch } from '#withdrawals/end-batch.ts';
import { formBatches } from '#withdrawals/form-batches.ts';
import { partCostly, tooCostly } from '#withdrawals/underpriced.ts';

// all tests share one database, and each test forms the batches of its own withdrawals
let database: TestDatabase;
let client: pg.PoolClient;
beforeAll(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
});
afterAll(async () => {
  client.release();
  await database.drop();
});

async function earned(account: string, amount: bigint): Promise<void> {
  await insertAccount(database.pool, account);
  await client.query('INSERT INTO service.token_balances (account, asset, amount) VALUES ($1, 0, $2)', [
    account,
    amount,
  ]);
}

async function asked(account: string, amount: bigint, feeRate: bigint, fee = 1n): Promise<Withdrawal> {
  const made = await reserveWithdrawal(
    client,
    {
      id: randomUUID(),
      account,
      asset: 0,
      amount,
      script: scriptOf(1),
      address: 'bc1q',
      fee,
      postage: 0n,
      payer: 'withdrawal',
      feeRate,
      webhookUrl: null,
      secretKey: null,
    },
    0n,
  );
  expect(made).not.toBeNull();
  return made as Withdrawal;
}

/** The open batch with this rate. */
async function batchOf(feeRate: bigint) {
  const found = (await openPayouts(client)).filter((each) => each.feeRate === feeRate);
  expect(found.length).toBe(1);
  return found[0] as (typeof found)[number];
}

test('a batch that waits is tried again once a withdrawal joins it', async () => {
  await earned('joins', 1_000n);
  await asked('joins', 600n, 1_000n);
  await formBatches(client);
  const { id } = await batchOf(1_000n);
  await noteStuck(client, id, 'No coin is free.');
  await asked('joins', 400n, 1_000n);
  await formBatches(client);
  expect([(await withdrawalsOf(client, id)).length, (await batchOf(1_000n)).stuck]).toEqual([2, null]);
});

test('a batch that cannot be made is split into one for each of its withdrawals', async () => {
  await earned('parted', 1_000n);
  for (const amount of [500n, 300n, 200n]) await asked('parted', amount, 2_000n);
  await formBatches(client);
  const payout = await batchOf(2_000n);
  const members = await withdrawalsOf(client, payout.id);
  const made = { payout, transactions: [], replaced: null } as unknown as MadeBatch;
  expect(await partBatch(client, made, members, 'Why.')).toBeNull();
  await formBatches(client);
  const alone = (await openPayouts(client)).filter((each) => each.feeRate === 2_000n);
  expect(alone.map(({ id }) => id === payout.id)).toEqual([false, false, false]);
  const [first] = alone;
  const [only] = await withdrawalsOf(client, first!.id);
  // a batch of one withdrawal is not split further
  expect(await partBatch(client, { ...made, payout: first! }, [only!], 'Why.')).toBe('Why.');
});

test('in a batch that costs too much, withdrawals that were priced at a lower rate wait together', async () => {
  await earned('costly', 10_000n);
  for (const fee of [10n, 10n, 500n]) await asked('costly', 1_000n, 6_000n, fee);
  await formBatches(client);
  const payout = await batchOf(6_000n);
  const withdrawals = await withdrawalsOf(client, payout.id);
  const ready = { payout, transactions: [], replaced: null, withdrawals };
  // fees rose for all withdrawals, so they wait together
  expect(await partCostly(client, ready, 6_000n, { bumpMax: 0n })).toBe(tooCostly);
  expect(await partCostly(client, ready, 2_000n, { bumpMax: 0n })).toBeNull();
  await asked('costly', 1_000n, 6_000n);
  await formBatches(client);
  const both = (await openPayouts(client)).filter((each) => each.feeRate === 6_000n);
  const feesOf = async (id: string) => (await withdrawalsOf(client, id)).map(({ fee }) => fee);
  const fees = new Map(
    await Promise.all(both.map(async ({ id }) => [id === payout.id, await feesOf(id)] as const)),
  );
  // later withdrawals join the batch that can be sent
  expect(fees).toEqual(
    new Map([
      [true, [500n, 1n]],
      [false, [10n, 10n]],
    ]),
  );
  // if the prices do not show which withdrawal is too expensive, each one is tried alone
  const rest = { ...ready, withdrawals: await withdrawalsOf(client, payout.id) };
  expect(await partCostly(client, rest, 1n, { bumpMax: 0n })).toBeNull();
  await formBatches(client);
  expect((await openPayouts(client)).filter((each) => each.feeRate === 6_000n).length).toBe(3);
});

test('the newest withdrawals that a balance no longer covers are left out', async () => {
  await earned('short', 1_000n);
  await earned('other', 1_000n);
  const older = await asked('short', 600n, 3_000n);
  const newer = await asked('short', 400n, 3_000n);
  await asked('other', 1_000n, 3_000n);
  await formBatches(client);
  const { id } = await batchOf(3_000n);
  const uncovered = async (amount: number, debtMax = 0n): Promise<string[]> => {
    await client.query(`UPDATE service.token_balances SET amount = $1 WHERE account = 'short'`, [amount]);
    return (await uncoveredWithdrawals(client, id, debtMax)).toSorted();
  };
  expect(await uncovered(1_000)).toEqual([]);
  expect(await uncovered(999)).toEqual([newer.id]);
  expect(await uncovered(999, 1n)).toEqual([]);
  expect(await uncovered(600)).toEqual([newer.id]);
  expect(await uncovered(599)).toEqual([older.id, newer.id].toSorted());
});

test('small coins are joined in turns, without accounts that would have less than their balance', async () => {
  const at = (place: number) => createHash('sha256').update(`poor ${place}`).digest();
  await client.query(
    `INSERT INTO service.assets (id, etching, rune) OVERRIDING SYSTEM VALUE VALUES (900, sha256('etching'), 1)`,
  );
  await client.query(
    `INSERT INTO service.token_runes (asset, name, divisibility) VALUES (900, 'POOR•COIN', 0)`,
  );
  let next = 0;
  const coins = async (
    account: string,
    values: readonly number[],
    height = 100,
    aside: string | null = null,
  ) => {
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO service.token_orders (id, account, created_at, expires_at, ends_at, state, asset, base_fee, additional_fee)
       VALUES (gen_random_uuid(), $1, now(), now() + interval '1 hour', now() + interval '1 hour', 'completed', 900, 0, 0)
       RETURNING id`,
      [account],
    );
    for (const value of values) {
      const txid = at(next++);
      await client.query(
        `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
         VALUES ($1, 0, $2, $3, now(), $4, sha256('block'))`,
        [txid, scriptOf(1), value, height],
      );
      await client.query(
        `INSERT INTO service.wallet_coins (txid, vout, value, branch, key_index, kind, subject, held, why, aside)
         VALUES ($1, 0, $2, 0, $3, 'token-order', $4, 'accounts', 'credit', $5)`,
        [txid, value, next, rows[0]!.id, aside],
      );
    }
  };
  // no coins are left besides those of this withdrawal
  await earned('poor short', 1_200n);
  await coins('poor short', [600, 600]);
  await earned('poor many', 1_000n);
  await coins('poor many', [500, 501, 502, 503, 100, 2_000]);
  await coins('poor many', [555], 101);
  await coins('poor many', [556], 100, 'special');
  await earned('poor few', 100n);
  await coins('poor few', [510, 511]);
  const wanted = { least: 100n, most: 1_000n, deep: 100, budget: 300n, limit: 100 };
  const found = await readPoorCoins(client, wanted);
  expect(found.map(({ owner }) => owner)).toEqual([
    'poor few',
    'poor many',
    'poor few',
    'poor many',
    'poor many',
    'poor many',
  ]);
  const satsOf = (owner: string) =>
    found.filter((each) => each.owner === owner).map(({ sats }) => Number(sats));
  expect(satsOf('poor many').toSorted((a, b) => a - b)).toEqual([500, 501, 502, 503]);
  expect(
    (await readPoorCoins(client, { ...wanted, budget: 0n, limit: 3 })).map(({ owner }) => owner),
  ).toEqual(['poor few', 'poor many', 'poor short']);
});

test('a day counts the largest fee of each consolidation that may be mined', async () => {
  expect([await isConsolidating(client), await consolidationFees(client)]).toEqual([false, 0n]);
  const payout = await insertConsolidation(client);
  const made = (name: string, fee: number, replaces: string | null, age = '1 hour', of = payout) =>
    client.query(
      `INSERT INTO service.wallet_transactions (txid, kind, index, files, bytes, plan, fee, own_index, payout_id, replaces, made_at)
       VALUES (sha256($1::bytea), 'payout', 0, 0, '\\x00', '{"inputs": [], "outputs": []}', $2, 1, $3,
               CASE WHEN $4::text IS NOT NULL THEN sha256($4::bytea) END, now() - $5::interval)`,
      [name, fee, of, replaces, age],
    );
  await made('consolidation a', 500, null);
  await made('consolidation b', 900, 'consolidation a');
  await made('consolidation c', 30, null);
  await made('consolidation d', 4_000, null, '25 hours');
  expect([await isConsolidating(client), await consolidationFees(client)]).toEqual([true, 930n]);
  await putState(client, payout, 'mined');
  expect([await isConsolidating(client), await consolidationFees(client)]).toEqual([false, 930n]);
});

test('balances of a batch are locked in the order of their accounts', async () => {
  const accounts = Array.from({ length: 12 }, (_, place) => `ordered ${String.fromCharCode(108 - place)}`);
  for (const account of accounts) {
    await earned(account, 10n);
    await asked(account, 10n, 4_000n);
  }
  await formBatches(client);
  const { id } = await batchOf(4_000n);
  const [holder, seeker] = [await database.pool.connect(), await database.pool.connect()];
  await holder.query('BEGIN');
  await holder.query(`SELECT FROM service.token_balances WHERE account = 'ordered a' FOR UPDATE`);
  const txid = trustedTxid(new Uint8Array(32));
  const put = putBatchState(client, id, 'completed', { txid, paidRate: 1_000n, tries: 1 });
  await waitUntil(
    async () => {
      const { rowCount } = await seeker.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return (rowCount ?? 0) > 0;
    },
    { limitMs: 20_000, everyMs: 50 },
  );
  const { rowCount: free } = await seeker.query(
    `SELECT FROM service.token_balances WHERE account LIKE 'ordered %' FOR UPDATE SKIP LOCKED`,
  );
  await holder.query('COMMIT');
  expect([free, (await put).length]).toEqual([accounts.length - 1, accounts.length]);
  holder.release();
  seeker.release();
  const { rows } = await client.query<{ units: string }>(
    `SELECT sum(reserved)::text AS units FROM service.token_balances WHERE account LIKE 'ordered %'`,
  );
  expect(rows).toEqual([{ units: '0' }]);
});

test('change with a rune is found, even beside more change of sats than a withdrawal spends', async () => {
  // in a transaction that is rolled back, because other tests of this file count all coins
  await client.query('BEGIN');
  await client.query(
    "INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('runes', 0, true)",
  );
  await client.query(
    `INSERT INTO service.assets (id, etching, rune) OVERRIDING SYSTEM VALUE VALUES (901, sha256('change'), 2)`,
  );
  await client.query(
    `INSERT INTO chain.runes (key, height, tx_index, spacers, divisibility, turbo, has_terms, timestamp, rune, premine, txid)
     VALUES (901, 90, 1, 0, 0, false, false, 0, 2, 10, sha256('change'))`,
  );
  for (const [place, value] of [9_000, 8_000, 330].entries()) {
    const txid = createHash('sha256').update(`change ${place}`).digest();
    await client.query(
      `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
       VALUES ($1, 0, $2, $3, now(), 100, sha256('block'))`,
      [txid, scriptOf(1), value],
    );
    await client.query(
      `INSERT INTO service.wallet_coins (txid, vout, value, branch, key_index, kind, subject, held, why)
       VALUES ($1, 0, $2, 1, $3, 'payout', gen_random_uuid(), 'accounts', 'rest')`,
      [txid, value, 9_000 + place],
    );
    if (value === 330)
      await client.query(
        `INSERT INTO chain.rune_balances (height, tx_index, vout, rune_key, amount, txid, script) VALUES (100, 1, 0, 901, 10, $1, $2)`,
        [txid, scriptOf(1)],
      );
  }
  const found = async (asset: number | null): Promise<number[]> =>
    (await readAccountCoins(client, { accounts: [], limit: 1, asset })).map(({ sats }) => Number(sats));
  const first = [await found(null), await found(901)];
  await client.query('ROLLBACK');
  expect(first).toEqual([[9_000], [330]]);
});

test('payments of a given-up transaction are owed again', async () => {
  const before = await owedToAccounts(client);
  await earned('given up', 1_000n);
  await asked('given up', 700n, 5_000n);
  await formBatches(client);
  const { id } = await batchOf(5_000n);
  const { rows } = await client.query<{ txid: Buffer }>(
    `INSERT INTO service.wallet_transactions (txid, kind, index, files, bytes, plan, fee, own_index, payout_id)
     VALUES (sha256('given up'), 'payout', 0, 0, '\\x00', '{"inputs": [], "outputs": []}', 1, 1, $1) RETURNING txid`,
    [id],
  );
  const txid = trustedTxid(rows[0]!.txid);
  await putBatchState(client, id, 'processing', { txid, paidRate: 1_000n, tries: 1 });
  expect((await owedToAccounts(client)) - before).toBe(300n);
  await client.query('UPDATE service.wallet_transactions SET superseded_at = now() WHERE txid = $1', [
    rows[0]!.txid,
  ]);
  expect((await owedToAccounts(client)) - before).toBe(1_000n);
});
