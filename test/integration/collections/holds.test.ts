import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confirmHold, giveUpHold, holdItems } from '#collections/selling/holds.store.ts';
import { decideItems, keepItems, lockContenders } from '#collections/selling/sold-items.store.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import {
  holdRequest,
  insertCollection,
  requireExactCounts,
  scriptOf,
} from '#test/support/collections/collection-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const hold = (collection: string, given: Parameters<typeof holdRequest>[1] = {}) =>
  holdItems(database.pool, holdRequest(collection, given));

/** Holds, stores and pays for items at once. */
async function sell(collection: string, given: Parameters<typeof holdRequest>[1] = {}): Promise<string> {
  const orderId = randomUUID();
  expect((await hold(collection, { orderId, ...given })).kind).toBe('held');
  await withTransaction(database.pool, async (tx) => {
    expect(await confirmHold(tx, orderId)).toBe(true);
    await decideItems(tx, orderId, 'allowed');
  });
  return orderId;
}

const refuses =
  (kind: string, words: string) =>
  (found: Awaited<ReturnType<typeof hold>>): boolean =>
    found.kind === kind && 'reason' in found && found.reason.includes(words);

describe('items', () => {
  test('are held by one order each, among many at the same time', async () => {
    await insertCollection(database.pool, { id: 'crowd', items: 40 });
    const asked = await Promise.all(Array.from({ length: 50 }, () => hold('crowd')));
    const held = asked.flatMap((found) => (found.kind === 'held' ? found.items.map(({ item }) => item) : []));
    expect(new Set(held).size).toBe(held.length);
    // half of what is left, while nothing is paid for
    expect(held).toHaveLength(20);
    expect(asked.filter(({ kind }) => kind === 'bounds')).toHaveLength(30);
    await requireExactCounts(database.pool, 'crowd');
  });

  test('are all sold in the end, and no one more', async () => {
    await insertCollection(database.pool, { id: 'last-ten', items: 10 });
    let sold = 0;
    for (let round = 0; round < 10 && sold < 10; round++) {
      const asked = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const orderId = randomUUID();
          return (await hold('last-ten', { orderId })).kind === 'held' ? orderId : null;
        }),
      );
      for (const orderId of asked.filter((id) => id !== null)) {
        await withTransaction(database.pool, async (tx) => {
          await confirmHold(tx, orderId);
          await decideItems(tx, orderId, 'allowed');
        });
        sold++;
      }
      await requireExactCounts(database.pool, 'last-ten');
    }
    expect(sold).toBe(10);
    expect(await hold('last-ten')).toSatisfy(refuses('closed', 'sold out'));
  });

  test('that are named are given once, all of them or none', async () => {
    await insertCollection(database.pool, { id: 'named', items: 20 });
    const named = (numbers: readonly number[]) => hold('named', { items: { kind: 'named', numbers } });
    const first = await named([7, 3]);
    expect(first).toMatchObject({ kind: 'held', items: [{ item: 7 }, { item: 3 }] });
    expect(await named([4, 3])).toMatchObject({ kind: 'taken' });
    expect(await named([21])).toMatchObject({ kind: 'taken' });
    expect(await named([4])).toMatchObject({ kind: 'held', items: [{ item: 4, name: '3.txt' }] });
    await requireExactCounts(database.pool, 'named');
  });

  test('of an order that is not stored in time are free again', async () => {
    await insertCollection(database.pool, { id: 'abandoned', items: 2 });
    const orderId = randomUUID();
    await hold('abandoned', { orderId, now: new Date(Date.now() - 120_000) });
    expect((await hold('abandoned')).kind).toBe('held');
    expect(await withTransaction(database.pool, (tx) => confirmHold(tx, orderId))).toBe(false);
    await requireExactCounts(database.pool, 'abandoned');
  });

  test('of an order that is not made after all are free at once', async () => {
    await insertCollection(database.pool, { id: 'given-up', items: 2 });
    const orderId = randomUUID();
    await hold('given-up', { orderId });
    expect((await hold('given-up')).kind).toBe('bounds');
    await giveUpHold(database.pool, orderId);
    expect((await hold('given-up')).kind).toBe('held');
    await requireExactCounts(database.pool, 'given-up');
  });

  test('are bounded for a client and its network', async () => {
    await insertCollection(database.pool, { id: 'bounded', items: 100 });
    const bounds = { client: 2, network: 3 };
    const from = (client: string) => hold('bounded', { client, bounds });
    expect((await from('10.1.2.3')).kind).toBe('held');
    expect((await from('10.1.2.3')).kind).toBe('held');
    expect(await from('10.1.2.3')).toSatisfy(refuses('bounds', 'Your'));
    expect((await from('10.1.2.4')).kind).toBe('held');
    expect(await from('10.1.2.5')).toSatisfy(refuses('bounds', 'network'));
    expect((await from('10.1.20.5')).kind).toBe('held');
  });
});

describe('an order that is over', () => {
  test('gives its items back, and gets them again where they are still free', async () => {
    await insertCollection(database.pool, { id: 'late', items: 4 });
    const orderId = randomUUID();
    await hold('late', { orderId, items: { kind: 'named', numbers: [2] } });
    await withTransaction(database.pool, async (tx) => {
      await confirmHold(tx, orderId);
      expect(await keepItems(tx, orderId, false)).toBe('released');
      expect(await keepItems(tx, orderId, true)).toBe('unpaid');
      expect(await keepItems(tx, orderId, false)).toBe('released');
    });
    await requireExactCounts(database.pool, 'late');
    await sell('late', { items: { kind: 'named', numbers: [2] } });
    await withTransaction(database.pool, async (tx) => {
      expect(await keepItems(tx, orderId, true)).toBe('released');
    });
    await requireExactCounts(database.pool, 'late');
  });
});

describe('an allowance', () => {
  const day = 86_400_000;

  test('is of the addresses of a list, and counts what was paid for alone', async () => {
    await insertCollection(database.pool, {
      id: 'listed',
      items: 50,
      phases: [{ phase: 'friends', allowances: { anna: 2, ben: null, carl: 0 } }],
    });
    const by = (name: string, count = 1) =>
      hold('listed', { script: scriptOf(name), items: { kind: 'drawn', count } });
    expect(await by('stranger')).toSatisfy(refuses('closed', 'its list'));
    expect(await by('carl')).toMatchObject({ kind: 'closed' });
    expect(await by('anna', 3)).toSatisfy(refuses('closed', '2 items'));
    // somebody else names her address and does not pay
    for (let times = 0; times < 3; times++) expect((await by('anna', 2)).kind).toBe('held');
    await sell('listed', { script: scriptOf('anna') });
    expect((await by('anna', 2)).kind).toBe('closed');
    expect((await by('ben', 5)).kind).toBe('held');
  });

  test('is known to those that want it, in a locked collection', async () => {
    await insertCollection(database.pool, {
      id: 'contended',
      items: 20,
      phases: [{ phase: 'friends', allowances: { dora: 3 } }],
    });
    const orders = [randomUUID(), randomUUID()] as const;
    for (const orderId of orders) {
      await hold('contended', { orderId, script: scriptOf('dora'), items: { kind: 'drawn', count: 2 } });
      await withTransaction(database.pool, (tx) => confirmHold(tx, orderId));
    }
    await withTransaction(database.pool, async (tx) => {
      expect(await lockContenders(tx, orders[0])).toEqual({
        left: 3,
        items: 2,
        others: [{ orderId: orders[1], items: 2 }],
      });
      await decideItems(tx, orders[0], 'allowed');
    });
    await withTransaction(database.pool, async (tx) => {
      expect(await lockContenders(tx, orders[1])).toEqual({ left: 1, items: 2, others: [] });
      await decideItems(tx, orders[1], 'refused');
    });
    await requireExactCounts(database.pool, 'contended');
  });

  test('opens with its phase, to the millisecond, and the cheaper phase sells', async () => {
    const opensAt = new Date(Date.now() + day);
    await insertCollection(database.pool, {
      id: 'phased',
      items: 50,
      price: 700,
      creatorAddress: 'creator',
      phases: [
        { phase: 'friends', price: 100, endsAt: new Date(opensAt.getTime() + day), allowances: { emil: 1 } },
        { phase: 'everybody', startsAt: opensAt, items: 3 },
      ],
    });
    const at = (ms: number, name: string) =>
      hold('phased', { script: scriptOf(name), now: new Date(opensAt.getTime() + ms) });
    expect((await at(-1, 'stranger')).kind).toBe('closed');
    expect(await at(0, 'stranger')).toMatchObject({ kind: 'held', phase: 'everybody', price: 700n });
    expect(await at(0, 'emil')).toMatchObject({
      kind: 'held',
      phase: 'friends',
      price: 100n,
      creatorAddress: 'creator',
    });
    expect(await at(day, 'emil')).toMatchObject({ kind: 'held', phase: 'everybody' });
  });
});
