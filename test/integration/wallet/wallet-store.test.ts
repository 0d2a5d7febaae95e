import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { servedNetwork } from '#kernel/pg/served-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { knownSeed, testWallet } from '#test/support/wallet/plans.ts';
import { openPublicWallet } from '#wallet/public-wallet.ts';
import { nextOrderIndex, nextOwnIndex, putWallet, readWallet } from '#wallet/wallet.store.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';

const { identity } = testWallet('regtest').wallet;
const other = testWallet('regtest', knownSeed.slice(0, 32)).wallet.identity;
let database: TestDatabase;
const put = (wallet: WalletIdentity, firstIndex: number) => putWallet(database.pool, wallet, firstIndex);

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query('TRUNCATE service.wallet'));

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

  test('is of the network that the database serves, and lets it serve no other one', async () => {
    await put(identity, 0);
    const mainnet = put(testWallet('mainnet').wallet.identity, 0);
    await expect(mainnet).rejects.toMatchObject({ code: 'network_mismatch' });
    expect(await servedNetwork(database.pool)).toBe('regtest');
  });

  test('hands out each index once, also to transactions that run at the same time', async () => {
    await put(identity, 0);
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

  test('gives an index to the next one where its transaction was rolled back', async () => {
    await put(identity, 0);
    const failed = withTransaction(database.pool, async (tx) => {
      expect(await nextOrderIndex(tx)).toBe(0);
      throw new Error('the order is refused');
    });
    await expect(failed).rejects.toThrow(/refused/u);
    expect(await withTransaction(database.pool, nextOrderIndex)).toBe(0);
  });

  test('has indices that go up alone, by whatever statement', async () => {
    await put(identity, 100);
    expect(await withTransaction(database.pool, nextOrderIndex)).toBe(100);
    expect(await put(identity, 50)).toMatchObject({
      nextOrderIndex: 101,
      nextOwnIndex: 100,
    });
    expect(await put(identity, 500)).toMatchObject({
      nextOrderIndex: 500,
      nextOwnIndex: 500,
    });
    const back = database.pool.query('UPDATE service.wallet SET next_order_index = 0');
    await expect(back).rejects.toThrow(/goes up alone/u);
  });

  test('lets the role that answers hand out indices, and change nothing else', async () => {
    await put(identity, 0);
    expect(await withTransaction(database.accessPool, nextOrderIndex)).toBe(0);
    for (const statement of [
      `UPDATE service.wallet SET network = 'mainnet'`,
      'DELETE FROM service.wallet',
      'TRUNCATE service.wallet',
    ])
      await expect(database.accessPool.query(statement)).rejects.toThrow(/permission denied/u);
  });
});
