import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { networks } from '#kernel/primitives/network.ts';
import { insertBatch } from '#payouts/payout/payout.store.ts';
import { readTokenBalances } from '#purse/ledger/token-balances.queries.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { runCommand } from '#test/support/run-command.ts';
import type { ShownWithdrawal } from '#test/support/tokenpay/shop-withdrawals.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { accountDestination } from '#tokenpay/withdrawing/account-destination.ts';
import { AccountWithdrawals } from '#tokenpay/withdrawing/account-withdrawals.ts';
import type { NewWithdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { putBatch, reserveWithdrawal, withdrawalsOf } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { accountOf } from '#wallet/account-key.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';
import { putWallet } from '#wallet/wallet.store.ts';
import { formBatches } from '#withdrawals/form-batches.ts';
import { storeBatch } from '#withdrawals/store-batch.ts';

interface Listed {
  readonly address: string;
  readonly addedAt: number;
  readonly countsAt: number;
  readonly counts: boolean;
}
interface Answer {
  readonly status: number;
  readonly body: { readonly addresses?: readonly Listed[] } & Partial<Listed> & {
      readonly error?: readonly { readonly msg: string }[];
    };
}

const dayMs = 24 * 60 * 60_000;
let database: TestDatabase;
let access: TestAccess;
let app: App;
beforeAll(async () => {
  database = await createTestDatabase();
  const { key, fingerprint } = accountOf(new Uint8Array(64).fill(7), 'regtest');
  const identity = {
    network: 'regtest',
    accountXpub: key.publicExtendedKey,
    masterFingerprint: fingerprint,
  } as const;
  await putWallet(database.pool, identity, endsAt(0));
  const { accessPool: pool } = database;
  access = testAccess(pool, { mode: 'open' });
  const never = async (): Promise<never> => {
    throw new Error('nothing is withdrawn here');
  };
  app = buildCheckedApp({
    ...readerParts(database.readers),
    access: access.access,
    withdrawals: new AccountWithdrawals({
      pool,
      wallet: async () => identity,
      isSignerThere: async () => true,
      secrets: never,
      feeRates: never,
      wake: async () => undefined,
      policy: { feePayer: 'account', debtMax: 0n, inputsMax: 100 },
      urlProblem: () => null,
    }),
  });
}, 60_000);
afterAll(async () => {
  await app?.close();
  await access?.close();
  await database?.drop();
});

/** A new account, and the requests with its key. */
async function newAccount() {
  const { key, account } = await giveKey(database.pool, {
    scopes: ['tokenpay', 'tokenpay-withdraw'],
    rate: '0',
  });
  const ask = async (method: 'GET' | 'POST' | 'DELETE', path = '', body?: object): Promise<Answer> => {
    const answer = await app.inject({
      method,
      url: `/tokenpay/user/account/addresses${path}`,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: answer.json() };
  };
  const withdrawal = async (method: 'GET' | 'DELETE', id: string) => {
    const answer = await app.inject({
      method,
      url: `/tokenpay/user/withdrawal/${id}`,
      headers: { 'x-api-key': key },
    });
    return { status: answer.statusCode, body: answer.json<ShownWithdrawal>() };
  };
  const add = (address: unknown): Promise<Answer> => ask('POST', '', { address });
  const remove = (address: string): Promise<Answer> => ask('DELETE', `/${address}`);
  const listed = async (): Promise<[string, boolean][]> =>
    ((await ask('GET')).body.addresses ?? []).map(({ address, counts }) => [address, counts]);
  const destination = (address: string) =>
    accountDestination(database.accessPool, account, address, networks.regtest);
  return { account, ask, add, remove, listed, destination, withdrawal };
}

test('the first address of an account counts at once, and the next a day later', async () => {
  const { add, listed, destination } = await newAccount();
  expect(await listed()).toEqual([]);
  expect(await destination(addressOf(2))).toBeInstanceOf(Uint8Array);
  const [first, next] = [await add(addressOf(1)), await add(addressOf(2))];
  const waits = ({ body: { addedAt = 0, countsAt = 0 } }: Answer): number => countsAt - addedAt;
  expect([first.status, first.body.counts, waits(first)]).toEqual([200, true, 0]);
  expect([next.status, next.body.counts, waits(next)]).toEqual([200, false, dayMs]);
  expect(await destination(addressOf(1))).toBeInstanceOf(Uint8Array);
  expect(JSON.stringify(await destination(addressOf(2)))).toContain('the address is active from');
  expect(JSON.stringify(await destination(addressOf(3)))).toContain('does not have this address in its list');
  // adding the address again, even in capitals, does not restart its waiting time
  for (const address of [addressOf(2), addressOf(2).toUpperCase()]) expect(await add(address)).toEqual(next);
  await database.pool.query(
    'UPDATE service.withdrawal_addresses SET counts_at = now() WHERE counts_at > now()',
  );
  expect(await destination(addressOf(2))).toBeInstanceOf(Uint8Array);
});

test('of addresses that are added at once to an empty list one counts, and each is listed once', async () => {
  const { add, listed } = await newAccount();
  const answers = await Promise.all([1, 2, 3, 1, 2, 3].map((place) => add(addressOf(place))));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
  const all = await listed();
  expect(new Set(all.map(([address]) => address)).size).toBe(3);
  expect([all.length, all.filter(([, counts]) => counts).length]).toEqual([3, 1]);
});

test('a key deletes an address as long as another one counts, and the operator adds one that counts at once', async () => {
  const { account, add, remove, listed } = await newAccount();
  for (const place of [1, 2]) await add(addressOf(place));
  const last = await remove(addressOf(1));
  expect([last.status, last.body.error?.[0]?.msg]).toEqual([
    409,
    expect.stringContaining('this is the last active address of the account'),
  ]);
  expect((await remove(addressOf(2))).body.addresses?.map(({ address }) => address)).toEqual([addressOf(1)]);
  expect((await remove(addressOf(1))).status).toBe(409);
  await add(addressOf(2));
  const said = await runCommand(
    ['tokenpay', 'addresses', '--account', account, '--allow', addressOf(2)],
    database.settings,
  );
  expect(said).not.toContain('is active from');
  expect(await listed()).toEqual([
    [addressOf(1), true],
    [addressOf(2), true],
  ]);
  // of two concurrent deletions only one succeeds, so one address is left
  const both = await Promise.all([remove(addressOf(1)), remove(addressOf(2))]);
  expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
  expect((await listed()).length).toBe(1);
});

test('a key lists a hundred addresses, and the database limits its role', async () => {
  const { account, add } = await newAccount();
  await database.pool.query(
    `INSERT INTO service.withdrawal_addresses (account, script, address)
     SELECT $1, decode(lpad(to_hex(i), 44, '0'), 'hex'), i FROM generate_series(1, 99) AS i`,
    [account],
  );
  expect((await add(addressOf(1))).status).toBe(200);
  const full = await add(addressOf(2));
  expect([full.status, full.body.error?.[0]?.msg]).toEqual([
    409,
    expect.stringContaining('already has 100 addresses'),
  ]);
  expect((await add(addressOf(1))).status).toBe(200);
  for (const statement of [
    `INSERT INTO service.withdrawal_addresses (account, script, address) VALUES ('${account}', '\\x51', 'a')`,
    'UPDATE service.withdrawal_addresses SET counts_at = now()',
    'DELETE FROM service.withdrawal_addresses',
  ])
    await expect(database.accessPool.query(statement)).rejects.toMatchObject({ code: '42501' });
});

test('an address that cannot be paid is not listed, and an unlisted one is not deleted', async () => {
  const { ask, add, remove, listed } = await newAccount();
  await database.pool.query(
    'INSERT INTO service.watched_scripts (script, watcher, since_height) VALUES ($1, $2, 0)',
    [Buffer.from(scriptOf(9)), 'order of ours'],
  );
  for (const [body, words] of [
    [undefined, /./u],
    [{}, /address is required/u],
    [{ address: '' }, /address is required/u],
    [{ address: { of: 1 } }, /address/u],
    [{ address: 'nonsense' }, /is not a Bitcoin address/u],
    [{ address: 'x'.repeat(10_000) }, /address/u],
    [{ address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' }, /belongs to another network/u],
    [{ address: addressOf(9) }, /is an address of this service/u],
  ] as const) {
    const { status, body: said } = await ask('POST', '', body);
    expect([status, said.error?.[0]?.msg]).toEqual([400, expect.stringMatching(words)]);
  }
  await add(addressOf(1));
  expect([(await remove(addressOf(2))).status, (await remove('nonsense')).status]).toEqual([404, 400]);
  expect(await listed()).toEqual([[addressOf(1), true]]);
  const { key } = await giveKey(database.pool, { scopes: ['tokenpay'], rate: '0' });
  for (const [method, path, status] of [
    ['GET', '', 200],
    ['POST', '', 403],
    ['DELETE', `/${addressOf(1)}`, 403],
  ] as const) {
    const url = `/tokenpay/user/account/addresses${path}`;
    const payload = method === 'POST' ? { payload: { address: addressOf(1) } } : {};
    const answer = await app.inject({ method, url, headers: { 'x-api-key': key }, ...payload });
    expect([method, answer.statusCode]).toEqual([method, status]);
  }
});

/** An account with 5,000 sats and a pending withdrawal that reserves 3,000 of them and has its own batch. */
async function newWithdrawal() {
  const { pool } = database;
  const its = await newAccount();
  const { account } = its;
  const id = randomUUID();
  const made: NewWithdrawal = {
    id,
    account,
    asset: 0,
    amount: 3_000n,
    script: scriptOf(1),
    address: addressOf(1),
    fee: 200n,
    postage: 0n,
    payer: 'withdrawal',
    feeRate: null,
    webhookUrl: null,
    secretKey: null,
  };
  await pool.query('INSERT INTO service.token_balances (account, asset, amount) VALUES ($1, 0, 5000)', [
    account,
  ]);
  const payout = await withTransaction(pool, async (tx) => {
    await reserveWithdrawal(tx, made, 0n);
    const batch = await insertBatch(tx, null);
    await putBatch(tx, [id], batch);
    return batch;
  });
  const reserved = async (): Promise<string | undefined> =>
    (
      await pool.query<{ reserved: string }>(
        'SELECT reserved FROM service.token_balances WHERE account = $1',
        [account],
      )
    ).rows[0]?.reserved;
  return { ...its, id, payout, reserved };
}

test('an account cancels an unsigned withdrawal, and nothing of it is signed from then on', async () => {
  const { id, payout, withdrawal, reserved } = await newWithdrawal();
  expect(await reserved()).toBe('3000');
  const client = await database.pool.connect();
  try {
    const withdrawals = await withdrawalsOf(client, payout);
    const cancelled = withdrawal('DELETE', id);
    await waitUntil(async () => (await withdrawal('GET', id)).body.reason !== null);
    // a transaction that was planned before the cancellation is not stored, because the withdrawals are checked again
    const ready = { payout: { id: payout, state: 'asked' }, replaced: null, withdrawals };
    await storeBatch({ client } as never, ready as never, null as never, null as never);
    expect((await withdrawal('GET', id)).body).toMatchObject({
      state: 'pending',
      reason: expect.stringContaining('No transaction of the withdrawal is signed any more') as string,
    });
    await formBatches(client);
    expect(await cancelled).toMatchObject({
      status: 200,
      body: { state: 'error', reason: 'Its account cancelled it.' },
    });
  } finally {
    client.release();
  }
  expect([(await withdrawal('DELETE', id)).body.state, await reserved()]).toEqual(['error', '0']);
});

test('a signed withdrawal, or one of another account, is not cancelled', async () => {
  const { id, withdrawal, reserved } = await newWithdrawal();
  const { withdrawal: ofStranger } = await newAccount();
  expect(await ofStranger('DELETE', id)).toEqual({
    status: 404,
    body: { error: [{ msg: 'withdrawal not found' }] },
  });
  for (const method of ['GET', 'DELETE'] as const)
    expect(await withdrawal(method, 'nonsense')).toEqual({
      status: 404,
      body: {
        error: [{ msg: expect.stringContaining('withdrawal not found: this is not the id') as string }],
      },
    });
  for (const [state, words] of [
    ['processing', 'is signed and may be mined'],
    ['completed', 'its transaction is in a block'],
  ] as const) {
    await database.pool.query('UPDATE service.withdrawals SET state = $2, txid = $3 WHERE id = $1', [
      id,
      state,
      Buffer.alloc(32, 1),
    ]);
    expect(await withdrawal('DELETE', id)).toEqual({
      status: 409,
      body: { error: [{ msg: expect.stringContaining(words) as string }] },
    });
  }
  expect(await reserved()).toBe('3000');
});

test('reserved units of a withdrawal are shown beside the balance', async () => {
  const { account } = await newWithdrawal();
  const shown = await runCommand(['tokenpay', 'balances', '--account', account, '--json'], database.settings);
  expect(JSON.parse(shown)).toMatchObject([
    { token: 'BTC', amountBase: '5000', reserved: { amountBase: '3000' }, available: { amountBase: '2000' } },
  ]);
  // an account without sats owes a fee
  await database.pool.query('UPDATE service.token_balances SET amount = 0 WHERE account = $1', [account]);
  expect(await readTokenBalances(database.accessPool, account)).toEqual([
    { account, asset: 0, amount: 0n, reserved: 3_000n },
  ]);
});
