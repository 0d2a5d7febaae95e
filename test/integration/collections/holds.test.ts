import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confirmHold, giveUpHold, holdItems, ItemHolds } from '#collections/selling/holds.store.ts';
import {
  decideItems,
  keepItems,
  lockContenders,
  undecideItems,
} from '#collections/selling/sold-items.store.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import {
  holdOne,
  holdRequest,
  insertCollection,
  requireExactCounts,
  scriptOf,
} from '#test/support/collections/collection-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const never = new AbortController().signal;
let database: TestDatabase;
let holds: ItemHolds;
beforeAll(async () => {
  database = await createTestDatabase();
  holds = new ItemHolds(database.pool);
});
afterAll(() => database.drop());

const hold = (collection: string, given: Parameters<typeof holdRequest>[1] = {}) =>
  holds.ask(holdRequest(collection, given), never);

/** Holds items, and stores and pays an order of them at once. */
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
    // half of the remaining items, while nothing is paid
    expect(held).toHaveLength(20);
    expect(asked.filter(({ kind }) => kind === 'bounds')).toHaveLength(30);
    await requireExactCounts(database.pool, 'crowd');
  });

  test('are all sold in the end, and not one more', async () => {
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
    expect(await named([21])).toMatchObject({
      kind: 'closed',
      reason: expect.stringContaining('1 to 20') as unknown,
    });
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

  test('of an order that is not created after all are free at once', async () => {
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

  test('are refused as one order that is too large, without advice to wait', async () => {
    await insertCollection(database.pool, { id: 'greedy', items: 10 });
    const found = await hold('greedy', { items: { kind: 'drawn', count: 6 } });
    expect(found).toSatisfy(refuses('bounds', 'can have at most 5 items now'));
    expect(found).not.toSatisfy(refuses('bounds', 'try again'));
  });
});

describe('held together', () => {
  /** A random request. The requests come from few clients, addresses and items, so that they compete. */
  const request = fc.record({
    items: fc.oneof(
      fc.record({ kind: fc.constant('drawn' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({
        kind: fc.constant('named' as const),
        numbers: fc.uniqueArray(fc.integer({ min: 1, max: 13 }), { minLength: 1, maxLength: 3 }),
      }),
    ),
    client: fc.constantFrom('1.1', '1.2', '2.1'),
    buyer: fc.constantFrom('ada', 'bob'),
  });
  const phases = [
    { phase: 'listed', price: 5, items: 3, isPublic: false, allowances: { ada: 2 } },
    { phase: 'public' },
  ];
  const bounds = { client: 4, network: 6 };
  let collections = 0;

  test('each gets what it would get after the others, and no item goes to two', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 16 }), async (given) => {
        const [together, apart] = [`together-${++collections}`, `apart-${collections}`];
        for (const id of [together, apart])
          await insertCollection(database.pool, { id, items: 12, price: 9, creatorAddress: 'ada', phases });
        // the bounds of a client cover all collections, so each of these collections has its own clients
        const requestsOf = (id: string, first: number) =>
          given.map(({ items, client, buyer }) =>
            holdRequest(id, {
              items,
              client: `${first}.${collections}.${client}`,
              script: scriptOf(buyer),
              bounds,
            }),
          );
        const held = await holdItems(database.pool, requestsOf(together, 1));
        const alone: typeof held = [];
        for (const each of requestsOf(apart, 2)) alone.push(await holdOne(database.pool, each));
        const items = held.flatMap((each) =>
          each.kind === 'held' ? each.items.map(({ item }) => item) : [],
        );
        expect(new Set(items).size).toBe(items.length);
        for (const id of [together, apart]) await requireExactCounts(database.pool, id);
        if (given.every(({ items: { kind } }) => kind === 'drawn')) expect(held).toEqual(alone);
        for (const [nth, each] of held.entries()) {
          const { items: wanted } = given[nth]!;
          if (each.kind === 'held' && wanted.kind === 'named')
            expect(each.items.map(({ item }) => item)).toEqual(wanted.numbers);
          if (each.kind === 'held' && wanted.kind === 'drawn') expect(each.items).toHaveLength(wanted.count);
        }
      }),
      propertyBounds(40),
    );
  });

  test('requests of several collections, and of one that is unknown, have their own answers', async () => {
    for (const id of ['left', 'right']) await insertCollection(database.pool, { id, items: 2 });
    const held = await holdItems(
      database.pool,
      ['left', 'nowhere', 'right', 'left'].map((id) => holdRequest(id)),
    );
    expect(held.map(({ kind }) => kind)).toEqual(['held', 'unknown', 'held', 'bounds']);
  });

  test('a collection that fails takes nothing from the others', async () => {
    for (const id of ['sound', 'broken']) await insertCollection(database.pool, { id, items: 4 });
    // the counts of the collection say that items are free although an order has them
    await database.pool.query(
      `UPDATE service.mint_items SET order_id = gen_random_uuid(), order_place = item WHERE collection = 'broken'`,
    );
    const held = await Promise.allSettled(['sound', 'broken', 'sound'].map((id) => hold(id)));
    expect(held.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await requireExactCounts(database.pool, 'sound');
  });
});

describe('of addresses that never pay', () => {
  test.each([
    [200, 10, 500, 11],
    [1_000, 1_000, 300, 12],
  ])('%i in %i networks hold at most half of what is left', async (addresses, networks, items, octet) => {
    const id = `hostile-${networks}`;
    await insertCollection(database.pool, { id, items });
    const half = Math.floor(items / 2);
    const attempts = Array.from({ length: addresses }, (_of, nth) =>
      hold(id, {
        client: `${octet}.${(nth % networks) >> 8}.${(nth % networks) & 255}.${Math.floor(nth / networks) + 1}`,
        items: { kind: 'drawn', count: 2 },
        bounds: { client: 2, network: 20 },
      }),
    );
    const held = (await Promise.all(attempts)).filter(({ kind }) => kind === 'held').length * 2;
    expect(held).toBe(Math.min(half, networks * 20, addresses * 2));
    await requireExactCounts(database.pool, id);
  });

  type Step =
    | { readonly kind: 'hold'; readonly count: number }
    | { readonly kind: 'end' | 'return' | 'pay'; readonly nth: number };
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('hold' as const), count: fc.integer({ min: 1, max: 6 }) }),
      },
      fc.record({
        kind: fc.constantFrom('end' as const, 'return' as const, 'pay' as const),
        nth: fc.nat(50),
      }),
    ),
    { maxLength: 30 },
  );

  test('items are at most half of what is left after each hold, whatever ends, returns and is paid for between', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 24 }), steps, async (items, taken) => {
        const id = `law-${++runs}`;
        await insertCollection(database.pool, { id, items });
        const unpaid = new Map<string, number>();
        const over = new Map<string, number>();
        let paid = 0;
        const requireBound = () => {
          const waiting = [...unpaid.values()].reduce((sum, count) => sum + count, 0);
          expect(waiting).toBeLessThanOrEqual(Math.max(1, Math.floor((items - paid) / 2)));
        };
        for (const step of taken) {
          if (step.kind === 'return') {
            const returning = [...over.keys()][step.nth % over.size];
            if (returning === undefined) continue;
            const standing = await withTransaction(database.pool, (tx) => keepItems(tx, returning, true));
            if (standing !== 'unpaid') continue;
            unpaid.set(returning, over.get(returning)!);
            over.delete(returning);
            requireBound();
            continue;
          }
          const orderId = step.kind === 'hold' ? randomUUID() : [...unpaid.keys()][step.nth % unpaid.size];
          if (orderId === undefined) continue;
          if (step.kind === 'hold') {
            const found = await hold(id, { orderId, items: { kind: 'drawn', count: step.count } });
            if (found.kind !== 'held') continue;
            unpaid.set(orderId, step.count);
            requireBound();
            await withTransaction(database.pool, (tx) => confirmHold(tx, orderId));
            continue;
          }
          if (step.kind === 'pay') paid += unpaid.get(orderId)!;
          else over.set(orderId, unpaid.get(orderId)!);
          unpaid.delete(orderId);
          await withTransaction(database.pool, async (tx) => {
            if (step.kind === 'pay') await decideItems(tx, orderId, 'allowed');
            else await keepItems(tx, orderId, false);
          });
        }
        await requireExactCounts(database.pool, id);
      }),
      propertyBounds(25),
    );
  });
});

describe('an order that has ended', () => {
  test('gives its items back, and gets them again if they are still free', async () => {
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

  test('gets no items again beyond half of what is left, until its payment is deep', async () => {
    await insertCollection(database.pool, { id: 'turns', items: 4 });
    const [first, second] = [randomUUID(), randomUUID()];
    const reserve = async (orderId: string, numbers: readonly number[]): Promise<void> => {
      expect((await hold('turns', { orderId, items: { kind: 'named', numbers } })).kind).toBe('held');
      await withTransaction(database.pool, (tx) => confirmHold(tx, orderId));
    };
    await reserve(first, [1, 2]);
    await withTransaction(database.pool, (tx) => keepItems(tx, first, false));
    await reserve(second, [3, 4]);
    await withTransaction(database.pool, async (tx) => {
      expect(await keepItems(tx, first, true)).toBe('released');
      expect(await keepItems(tx, first, true, { isBounded: false })).toBe('unpaid');
    });
    await requireExactCounts(database.pool, 'turns');
  });
});

describe('an allowance', () => {
  const day = 86_400_000;

  test('belongs to the addresses of a list, and counts only paid items', async () => {
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
    // someone else names her address in an order, and does not pay
    for (let times = 0; times < 3; times++) expect((await by('anna', 2)).kind).toBe('held');
    await sell('listed', { script: scriptOf('anna') });
    expect((await by('anna', 2)).kind).toBe('closed');
    expect((await by('ben', 5)).kind).toBe('held');
  });

  test('is known to orders that want it, in a locked collection', async () => {
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

  test('is back once a paid order has ended, or its payment is undone', async () => {
    await insertCollection(database.pool, {
      id: 'back',
      items: 20,
      phases: [{ phase: 'friends', allowances: { fred: 2 } }],
    });
    const script = scriptOf('fred');
    const want = (count: number) => hold('back', { script, items: { kind: 'drawn', count } });
    const first = await sell('back', { script, items: { kind: 'drawn', count: 2 } });
    expect((await want(1)).kind).toBe('closed');
    await withTransaction(database.pool, (tx) => undecideItems(tx, first));
    await requireExactCounts(database.pool, 'back');
    const second = await sell('back', { script, items: { kind: 'drawn', count: 1 } });
    // the first order keeps its items, and the service decides about it again
    await withTransaction(database.pool, async (tx) => {
      expect(await lockContenders(tx, first)).toEqual({ left: 1, items: 2, others: [] });
      await decideItems(tx, first, 'refused');
      await undecideItems(tx, first);
      expect(await lockContenders(tx, first)).toBeNull();
      expect(await keepItems(tx, second, false)).toBe('released');
    });
    expect((await want(2)).kind).toBe('held');
    await requireExactCounts(database.pool, 'back');
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
    expect(await at(day, 'emil')).toMatchObject({ kind: 'held', phase: 'everybody', cheaper: null });
    const two = { script: scriptOf('emil'), now: opensAt, items: { kind: 'drawn', count: 2 } } as const;
    expect(await hold('phased', two)).toMatchObject({
      phase: 'everybody',
      cheaper: { phase: 'friends', price: 100n, items: 1 },
    });
  });
});
