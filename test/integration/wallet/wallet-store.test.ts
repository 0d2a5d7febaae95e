import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { servedNetwork } from '#kernel/pg/served-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { knownSeed, testWallet } from '#test/support/wallet/plans.ts';
import { takeIndices } from '#test/support/wallet/take-indices.ts';
import { endsAt, movedBy } from '#wallet/indices/branch-ends.ts';
import { IndexLeases } from '#wallet/indices/index-leases.ts';
import {
  beginReleases,
  extendRelease,
  leaseIndices,
  readRelease,
  startRelease,
} from '#wallet/indices/release.store.ts';
import { openPublicWallet } from '#wallet/public-wallet.ts';
import { putWallet, readWallet } from '#wallet/wallet.store.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';

const { identity } = testWallet('regtest').wallet;
const other = testWallet('regtest', knownSeed.slice(0, 32)).wallet.identity;
let database: TestDatabase;
let releaser: pg.Client;
const put = (wallet: WalletIdentity, firstIndex: number) =>
  putWallet(database.pool, wallet, endsAt(firstIndex));

/** Releases `count` indices of each branch, like the process with the seed after its mark is raised. */
async function release(count = 100): Promise<number> {
  const session = await beginReleases(releaser);
  const row = await readRelease(releaser);
  await startRelease(releaser, session, row!.next, movedBy(row!.next, count));
  return session;
}
const nextOrderIndex = async (tx: pg.ClientBase): Promise<number> =>
  (await takeIndices(tx, { orders: 1 })).orders;
const nextOwnIndex = async (tx: pg.ClientBase): Promise<number> => (await takeIndices(tx, { own: 1 })).own;

beforeAll(async () => {
  database = await createTestDatabase();
  releaser = await connectClient(database.url);
});
afterAll(async () => {
  await releaser.end();
  await database.drop();
});
beforeEach(() => database.pool.query('TRUNCATE service.wallet, service.wallet_branches'));

describe('the wallet of the database', () => {
  test('is missing until it is put, and then derives addresses without a seed', async () => {
    expect(await openPublicWallet(database.pool)).toBeNull();
    await expect(withTransaction(database.pool, nextOrderIndex)).rejects.toMatchObject({
      code: 'wallet_missing',
    });
    await put(identity, 0);
    const opened = await openPublicWallet(database.readers);
    expect(opened?.identity).toMatchObject(identity);
    expect(opened?.orderAddress(3, null)).toEqual(testWallet('regtest').wallet.orderAddress(3, null));
  });

  test('is never replaced by that of another seed', async () => {
    await put(identity, 0);
    expect(await put(other, 0)).toBeNull();
    expect(await readWallet(database.pool)).toMatchObject(identity);
    const change = database.pool.query('UPDATE service.wallet SET account_xpub = $1', [other.accountXpub]);
    await expect(change).rejects.toThrow(/do not change/u);
  });

  test('belongs to the network that the database serves, and lets it serve no other one', async () => {
    await put(identity, 0);
    const mainnet = put(testWallet('mainnet').wallet.identity, 0);
    await expect(mainnet).rejects.toMatchObject({ code: 'network_mismatch' });
    expect(await servedNetwork(database.pool)).toBe('regtest');
  });

  test('hands out each index once, even to transactions that run at the same time', async () => {
    await put(identity, 0);
    await release();
    const taken = await Promise.all(
      Array.from({ length: 40 }, async (_, place) =>
        withTransaction(database.pool, place % 2 === 0 ? nextOrderIndex : nextOwnIndex),
      ),
    );
    const of = (rest: number): number[] =>
      taken.filter((__, place) => place % 2 === rest).toSorted((a, b) => a - b);
    const all = Array.from({ length: 20 }, (_, index) => index);
    expect(of(0)).toEqual(all);
    expect(of(1)).toEqual(all);
  });

  test('gives an index to the next one if its transaction was rolled back', async () => {
    await put(identity, 0);
    await release();
    const failed = withTransaction(database.pool, async (tx) => {
      expect(await nextOrderIndex(tx)).toBe(0);
      throw new Error('the order is refused');
    });
    await expect(failed).rejects.toThrow(/refused/u);
    expect(await withTransaction(database.pool, nextOrderIndex)).toBe(0);
  });

  test('has indices that only go up, with any statement', async () => {
    await put(identity, 100);
    await release();
    expect(await withTransaction(database.pool, nextOrderIndex)).toBe(100);
    expect(await put(identity, 50)).toMatchObject({ next: { orders: 101, own: 100, fees: 100 } });
    expect(await put(identity, 500)).toMatchObject({ next: endsAt(500) });
    const back = database.pool.query('UPDATE service.wallet_branches SET next_index = 0');
    await expect(back).rejects.toThrow(/goes up alone/u);
  });

  test('lets the role that answers hand out indices, and change nothing else', async () => {
    await put(identity, 0);
    await release();
    expect(await withTransaction(database.accessPool, nextOrderIndex)).toBe(0);
    for (const statement of [
      `UPDATE service.wallet SET network = 'mainnet'`,
      'UPDATE service.wallet_branches SET released_end = 1000000',
      'UPDATE service.wallet_branches SET release_session = 1',
      `UPDATE service.wallet_branches SET descriptor = 'tr(other)'`,
      'DELETE FROM service.wallet',
      'DELETE FROM service.wallet_branches',
      'TRUNCATE service.wallet, service.wallet_branches',
    ])
      await expect(database.accessPool.query(statement)).rejects.toThrow(/permission denied/u);
  });

  const unreleased = { code: 'wallet_indices_unreleased' };

  test('hands out only released indices, and says what is missing', async () => {
    await put(identity, 7);
    await expect(nextOrderIndex(releaser)).rejects.toMatchObject({
      ...unreleased,
      message: expect.stringContaining('no running process with its seed has released addresses') as string,
    });
    const session = await release(3);
    expect(await takeIndices(releaser, { orders: 2, own: 1 })).toMatchObject({ orders: 7, own: 7 });
    await expect(takeIndices(releaser, { orders: 2, own: 1 })).rejects.toMatchObject({
      ...unreleased,
      message: expect.stringContaining('are being released') as string,
    });
    expect(await nextOrderIndex(releaser)).toBe(9);
    expect(await extendRelease(releaser, session + 1, endsAt(90))).toBe(false);
    expect(await extendRelease(releaser, session, { orders: 11, own: 0, fees: 0 })).toBe(true);
    expect(await nextOrderIndex(releaser)).toBe(10);
    const beyond = database.pool.query(
      `UPDATE service.wallet_branches SET next_index = 12 WHERE name = 'orders'`,
    );
    await expect(beyond).rejects.toThrow(/wallet_branches_released/u);
  });

  test('is taken from by processes that hand out from memory, to many that ask at once', async () => {
    await put(identity, 0);
    await release(1000);
    const processes = [new IndexLeases(database.accessPool), new IndexLeases(database.accessPool)];
    const taken = await Promise.all(
      Array.from({ length: 120 }, (_, place) =>
        processes[place % 2]!.take({ orders: place % 40 === 0 ? 101 : 1, own: 1 }),
      ),
    );
    const own = taken.map(({ first }) => first.own);
    expect(new Set(own).size).toBe(120);
    const orders = taken.flatMap(({ first }, place) =>
      Array.from({ length: place % 40 === 0 ? 101 : 1 }, (_, index) => first.orders + index),
    );
    expect(new Set(orders).size).toBe(orders.length);
    // each process sends one statement for all requests at once, and one in the background for the next requests
    expect([200, 300, 400]).toContain((await readRelease(releaser))?.next.own);
    for (const { first, releases } of taken) {
      expect(first.fees).toBe(0);
      expect(releases.map(({ branch }) => branch)).toEqual(['orders', 'own']);
    }
  });

  test('has gaps after rolled back transactions, which delay no other one', async () => {
    await put(identity, 0);
    await release();
    const leases = new IndexLeases(database.accessPool);
    const failed = withTransaction(database.pool, async (tx) => {
      const taken = await leases.take({ orders: 1, own: 1 });
      expect(await leases.confirm(tx, taken)).toBe(true);
      const other = await leases.take({ orders: 2 });
      // no transaction locks the row of the lease
      await withTransaction(database.accessPool, async (second) => {
        expect(await leases.confirm(second, other)).toBe(true);
        await leaseIndices(second, 'fees', { least: 1, most: 1 });
      });
      expect([taken.first.orders, other.first.orders]).toEqual([0, 1]);
      throw new Error('the order is refused');
    });
    await expect(failed).rejects.toThrow(/refused/u);
    expect((await leases.take({ orders: 1 })).first.orders).toBe(3);
  });

  test('hands out the last indices that are released, and appends the next ones to them', async () => {
    await put(identity, 0);
    const session = await release(3);
    const leases = new IndexLeases(database.accessPool);
    const next = async (count = 1): Promise<number> => (await leases.take({ orders: count })).first.orders;
    await expect(next(4)).rejects.toMatchObject(unreleased);
    expect([await next(), await next()]).toEqual([0, 1]);
    // a request for several indices that fails does not fail a request for one index
    const [more, one] = await Promise.allSettled([next(4), next()]);
    expect(more).toMatchObject({ reason: unreleased });
    expect(one).toMatchObject({ value: 2 });
    await expect(next()).rejects.toMatchObject(unreleased);
    await extendRelease(releaser, session, endsAt(204));
    expect(await next()).toBe(3);
    // 99 indices are left in memory, and the next ones follow directly
    expect(await next(101)).toBe(4);
    for (let index = 105; index < 204; index++) expect(await next()).toBe(index);
    await expect(next()).rejects.toMatchObject(unreleased);
  });

  test('gives up indices in memory of a release that has ended, or that a restore ended', async () => {
    await put(identity, 0);
    await release();
    const leases = new IndexLeases(database.accessPool);
    const client = await connectClient(database.url);
    await client.query('CREATE TEMP TABLE older AS SELECT * FROM service.wallet_branches');
    const taken = await leases.take({ orders: 1, own: 1 });
    try {
      await withTransaction(client, async (tx) => {
        await tx.query('TRUNCATE service.wallet_branches');
        await tx.query('INSERT INTO service.wallet_branches SELECT * FROM older');
      });
    } finally {
      await client.end();
    }
    expect(await withTransaction(database.accessPool, (tx) => leases.confirm(tx, taken))).toBe(false);
    await expect(leases.take({ orders: 1 })).rejects.toMatchObject(unreleased);
    // as after a restore of the database and its mark: an order gets the same indices again
    await release();
    const again = await leases.take({ orders: 1, own: 1 });
    expect(again.first).toEqual(taken.first);
    expect(await withTransaction(database.accessPool, (tx) => leases.confirm(tx, taken))).toBe(false);
    expect(await withTransaction(database.accessPool, (tx) => leases.confirm(tx, again))).toBe(true);
  });

  test('cannot be emptied while a transaction uses indices', async () => {
    await put(identity, 0);
    await release();
    const leases = new IndexLeases(database.accessPool);
    const client = await connectClient(database.url);
    try {
      await client.query(`SET lock_timeout = '50ms'`);
      await withTransaction(database.accessPool, async (tx) => {
        expect(await leases.confirm(tx, await leases.take({ orders: 1 }))).toBe(true);
        const emptied = client.query('TRUNCATE service.wallet, service.wallet_branches');
        await expect(emptied).rejects.toThrow(/lock timeout/u);
      });
    } finally {
      await client.end();
    }
  });

  test('hands out nothing once the process that released it is gone', async () => {
    await put(identity, 0);
    const process = await connectClient(database.url);
    const session = await beginReleases(process);
    await startRelease(process, session, endsAt(0), endsAt(9));
    expect(await nextOrderIndex(releaser)).toBe(0);
    await process.end();
    await waitUntil(async () => (await readRelease(releaser))?.isLive === false, { limitMs: 10_000 });
    await expect(nextOrderIndex(releaser)).rejects.toMatchObject(unreleased);
  });

  test.each([
    ['with other rows', 'TRUNCATE service.wallet_branches'],
    [
      'as another table',
      'ALTER TABLE service.wallet_branches RENAME TO lost; CREATE TABLE service.wallet_branches (LIKE service.lost)',
    ],
  ])('hands out nothing of a release that a restore brings back, %s', async (_, statement) => {
    await put(identity, 0);
    const session = await release();
    await nextOrderIndex(releaser);
    const client = await connectClient(database.url);
    try {
      await client.query('CREATE TEMP TABLE dumped AS SELECT * FROM service.wallet_branches');
      await client.query('BEGIN');
      await client.query(statement);
      await client.query('INSERT INTO service.wallet_branches SELECT * FROM dumped');
      const row = await readRelease(client);
      expect(row).toMatchObject({ isLive: false, next: { orders: 1, own: 0 } });
      expect(row?.session === null || row?.session === session).toBe(true);
      await expect(nextOrderIndex(client)).rejects.toMatchObject(unreleased);
    } finally {
      await client.query('ROLLBACK');
      await client.end();
    }
  });
});
