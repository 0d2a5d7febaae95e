import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAccount } from '#accounts/account.store.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { MadeBatch } from '#payouts/following/payout-parts.ts';
import { noteStuck, openPayouts } from '#payouts/payout/payout.store.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { uncoveredWithdrawals } from '#tokenpay/withdrawing/uncovered.queries.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { putBatchState, reserveWithdrawal, withdrawalsOf } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { partBatch } from '#withdrawals/end-batch.ts';
import { formBatches } from '#withdrawals/form-batches.ts';
import { partCostly, tooCostly } from '#withdrawals/underpriced.ts';

// batches of one database: each test forms those of its own withdrawals
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

/** The batch with this rate that is open. */
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

test('a batch that cannot be made is parted into one for each of its withdrawals', async () => {
  await earned('parted', 1_000n);
  for (const amount of [500n, 300n, 200n]) await asked('parted', amount, 2_000n);
  await formBatches(client);
  const payout = await batchOf(2_000n);
  const members = await withdrawalsOf(client, payout.id);
  const made = { payout, transactions: [] } as unknown as MadeBatch;
  expect(await partBatch(client, made, members, 'Why.')).toBeNull();
  await formBatches(client);
  const alone = (await openPayouts(client)).filter((each) => each.feeRate === 2_000n);
  expect(alone.map(({ id }) => id === payout.id)).toEqual([false, false, false]);
  const [first] = alone;
  const [only] = await withdrawalsOf(client, first!.id);
  // it is parted no further
  expect(await partBatch(client, { ...made, payout: first! }, [only!], 'Why.')).toBe('Why.');
});

test('of a batch that costs too much, withdrawals that were priced at a lower rate wait together', async () => {
  await earned('costly', 10_000n);
  for (const fee of [10n, 10n, 500n]) await asked('costly', 1_000n, 6_000n, fee);
  await formBatches(client);
  const payout = await batchOf(6_000n);
  const withdrawals = await withdrawalsOf(client, payout.id);
  const ready = { payout, transactions: [], withdrawals };
  // fees rose for all of them: they wait as one
  expect(await partCostly(client, ready, 6_000n, { bumpMax: 0n })).toBe(tooCostly);
  expect(await partCostly(client, ready, 2_000n, { bumpMax: 0n })).toBeNull();
  await asked('costly', 1_000n, 6_000n);
  await formBatches(client);
  const both = (await openPayouts(client)).filter((each) => each.feeRate === 6_000n);
  const feesOf = async (id: string) => (await withdrawalsOf(client, id)).map(({ fee }) => fee);
  const fees = new Map(
    await Promise.all(both.map(async ({ id }) => [id === payout.id, await feesOf(id)] as const)),
  );
  // later ones join the batch that can be sent
  expect(fees).toEqual(
    new Map([
      [true, [500n, 1n]],
      [false, [10n, 10n]],
    ]),
  );
  // where the prices say nothing, each is tried alone
  const rest = { ...ready, withdrawals: await withdrawalsOf(client, payout.id) };
  expect(await partCostly(client, rest, 1n, { bumpMax: 0n })).toBeNull();
  await formBatches(client);
  expect((await openPayouts(client)).filter((each) => each.feeRate === 6_000n).length).toBe(3);
});

test('the newest withdrawals are left out of what a balance does not cover any more', async () => {
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

test('balances of a batch are taken in the order of their accounts', async () => {
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
