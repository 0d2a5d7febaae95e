import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { noteKeys, readPublicKeys, replaceKeys } from '#webhooks/key.store.ts';
import { putWebhook, putWebhooks, putWebhooksOf, replayWebhooks } from '#webhooks/outbox.ts';
import { shownPublicKey } from '#webhooks/webhook-keys.ts';
import { listDeliveries, readWaiting, readWebhooks } from '#webhooks/webhooks.queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

const url = 'https://example.com/hook?order_id=1&token=A%2fb';
const within = <T>(work: (tx: pg.ClientBase) => Promise<T>): Promise<T> =>
  withTransaction(database.pool, work);
const feed = (subject: string, after = 0, limit = 100) =>
  readWebhooks(database.readers, subject, after, limit);

test('messages are numbered by subject, and read as they will be sent', async () => {
  const [first, other, second] = await within(async (tx) => [
    await putWebhook(tx, { subject: 'order a', url, body: { id: 'a', state: 'prep' } }),
    await putWebhook(tx, { subject: 'order b', url: null, body: { id: 'b' } }),
    await putWebhook(tx, { subject: 'order a', url, body: { state: 'queued', id: 'a', text: 'ü' } }),
  ]);
  expect([first, other, second]).toEqual([1, 1, 2]);
  const told = await feed('order a');
  expect(told.map(({ sequence, body, state, tries }) => [sequence, body, state, tries])).toEqual([
    [1, '{"id":"a","state":"prep"}', 'waiting', 0],
    [2, '{"state":"queued","id":"a","text":"ü"}', 'waiting', 0],
  ]);
  // the second message waits for the first
  expect(told.map(({ nextTryAt }) => nextTryAt !== null)).toEqual([true, false]);
  expect(new Set(told.map(({ id }) => id)).size).toBe(2);
  expect(await feed('order a', 1)).toEqual(told.slice(1));
  expect(await feed('order a', 0, 1)).toEqual(told.slice(0, 1));
  expect((await feed('order b')).map(({ state, nextTryAt }) => [state, nextTryAt])).toEqual([
    ['no-url', null],
  ]);
  const listed = await listDeliveries(database.pool, { subject: 'order a', limit: 10 });
  expect(listed.map((delivery) => [delivery.sequence, delivery.url])).toEqual([
    [2, url],
    [1, url],
  ]);
});

test('many messages are written at once, in their order', async () => {
  const bodies = Array.from({ length: 1000 }, (_, index) => ({ id: 'many', index }));
  const address = { subject: 'order many', url };
  expect(await within((tx) => putWebhooks(tx, address, bodies))).toBe(1);
  expect(await within((tx) => putWebhooks(tx, address, [{ last: true }]))).toBe(1001);
  const told = await feed('order many', 0, 2000);
  expect(told.map(({ body }) => body)).toEqual(
    [...bodies, { last: true }].map((body) => JSON.stringify(body)),
  );
  expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, index) => index + 1));
});

test('messages of many subjects are written at once, each in its order', async () => {
  const of = (subject: string, to: string | null, ...bodies: object[]) => ({ subject, url: to, bodies });
  const write = () =>
    within((tx) =>
      putWebhooksOf(tx, [
        of('order both z', url, { n: 1 }, { n: 2 }, { n: 3 }),
        of('order both a', null, { n: 4 }),
        of('order both m', url, { n: 5 }, { n: 6 }),
      ]),
    );
  expect([await write(), await write()]).toEqual([
    [1, 1, 1],
    [4, 2, 3],
  ]);
  const told = async (subject: string) =>
    (await feed(subject)).map(({ sequence, body, state }) => `${sequence} ${body} ${state}`);
  expect(await told('order both m')).toEqual(
    [5, 6, 5, 6].map((n, place) => `${place + 1} {"n":${n}} waiting`),
  );
  expect(await told('order both z')).toHaveLength(6);
  expect(await told('order both a')).toEqual(['1 {"n":4} no-url', '2 {"n":4} no-url']);
  expect(await within((tx) => putWebhooksOf(tx, []))).toEqual([]);
});

test('a change that is rolled back is not reported, and leaves no gap', async () => {
  const address = { subject: 'order back', url };
  await within((tx) => putWebhook(tx, { ...address, body: { n: 1 } }));
  await expect(
    within(async (tx) => {
      await putWebhook(tx, { ...address, body: { n: 2 } });
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect(await within((tx) => putWebhook(tx, { ...address, body: { n: 3 } }))).toBe(2);
  expect((await feed('order back')).map(({ body }) => body)).toEqual(['{"n":1}', '{"n":3}']);
});

test('writers of one subject follow each other', async () => {
  const address = { subject: 'order raced', url };
  const sequences = await Promise.all(
    Array.from({ length: 20 }, (_, n) => within((tx) => putWebhook(tx, { ...address, body: { n } }))),
  );
  expect(sequences.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
});

test('the sender is notified when a change commits', async () => {
  const listener = await database.pool.connect();
  let heard = 0;
  listener.on('notification', () => heard++);
  await listener.query('LISTEN satscribe_webhooks');
  try {
    await within(async (tx) => {
      await putWebhook(tx, { subject: 'order heard', url, body: {} });
      await listener.query('SELECT 1');
      expect(heard).toBe(0);
    });
    await waitUntil(() => heard === 1);
  } finally {
    listener.release(true);
  }
});

test('the waiting ones are counted', async () => {
  const before = await readWaiting(database.readers);
  await within((tx) => putWebhook(tx, { subject: 'order counted', url, body: {} }));
  await within((tx) => putWebhook(tx, { subject: 'order silent', url: null, body: {} }));
  const after = await readWaiting(database.readers);
  expect(after.count).toBe(before.count + 1);
  expect(after.oldestSeconds).toBeGreaterThanOrEqual(0);
});

test('a replay of an unknown subject sends nothing', async () => {
  expect(await within((tx) => replayWebhooks(tx, 'order unknown', 1))).toBe(0);
});

test('keys follow each other only where the old one is known', async () => {
  const [one, two, three] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill)) as [Buffer, Buffer, Buffer];
  const shown = async () =>
    (await readPublicKeys(database.readers)).map(({ key, isCurrent }) => [key, isCurrent]);
  await within((tx) => noteKeys(tx, [one]));
  await within((tx) => noteKeys(tx, [one]));
  expect(await shown()).toEqual([[shownPublicKey(one), true]]);
  await expect(within((tx) => noteKeys(tx, [two]))).rejects.toMatchObject({ code: 'service_secret_differs' });
  await within((tx) => noteKeys(tx, [two, one]));
  expect(await shown()).toEqual([
    [shownPublicKey(two), true],
    [shownPublicKey(one), false],
  ]);
  await expect(within((tx) => noteKeys(tx, [one]))).rejects.toMatchObject({ code: 'service_secret_differs' });
  await within((tx) => noteKeys(tx, [two]));
  expect(await shown()).toEqual([[shownPublicKey(two), true]]);
  await within((tx) => replaceKeys(tx, [three]));
  expect(await shown()).toEqual([[shownPublicKey(three), true]]);
});
