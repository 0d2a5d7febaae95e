import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { startReceiver } from '#test/support/webhooks/receiver.ts';
import { startSending, within } from '#test/support/webhooks/sending.ts';
import { putWebhooks, replayWebhooks } from '#webhooks/outbox.ts';
import {
  changeWaiting,
  deleteWaiting,
  lockLastWaiting,
  readWaitingSubjects,
} from '#webhooks/waiting-messages.store.ts';
import { readWebhooks } from '#webhooks/webhooks.queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const url = 'https://example.com/hook';
const put = (subject: string, ...bodies: object[]): Promise<number> =>
  within(database, (tx) => putWebhooks(tx, { subject, url }, bodies));
const told = async (subject: string): Promise<string[]> =>
  (await readWebhooks(database.pool, subject, 0, 100)).map(
    ({ sequence, body, state }) => `${sequence} ${body} ${state}`,
  );
const last = (least: number, ...subjects: string[]) =>
  within(database, (tx) => lockLastWaiting(tx, subjects, least));

test('the last waiting message is read if enough messages wait, and can be changed', async () => {
  await put('search a', { n: 1 }, { n: 2 }, { n: 3 });
  await put('search b', { n: 4 }, { n: 5 });
  expect(await last(3, 'search b', 'search a', 'search unknown')).toEqual([
    { subject: 'search a', sequence: 3, body: '{"n":3}' },
  ]);
  expect(await last(4, 'search a', 'search b')).toEqual([]);
  await within(database, async (tx: pg.ClientBase) => {
    const [message] = await lockLastWaiting(tx, ['search a'], 3);
    await changeWaiting(tx, [{ subject: 'search a', sequence: message?.sequence ?? 0, body: { n: 'ü' } }]);
  });
  expect(await told('search a')).toEqual(['1 {"n":1} waiting', '2 {"n":2} waiting', '3 {"n":"ü"} waiting']);
  expect(await told('search b')).toEqual(['1 {"n":4} waiting', '2 {"n":5} waiting']);
});

test('a message that is first, or that was ever tried, is not changed', async () => {
  await put('search first', { n: 1 });
  expect(await last(1, 'search first')).toEqual([]);
  await put('search tried', { n: 1 }, { n: 2 });
  await database.pool.query(
    `UPDATE service.webhooks SET tried_at = now(), state = 'delivered' WHERE subject = 'search tried'`,
  );
  await within(database, (tx) => replayWebhooks(tx, 'search tried', 1));
  expect(await told('search tried')).toEqual(['1 {"n":1} waiting', '2 {"n":2} waiting']);
  expect(await last(2, 'search tried')).toEqual([]);
  await put('search tried', { n: 3 });
  expect(await last(2, 'search tried')).toMatchObject([{ sequence: 3 }]);
});

test('waiting messages are deleted with their turns, and later messages are sent', async () => {
  const receiver = await startReceiver((_request, response) => response.writeHead(500).end());
  const sending = startSending(database);
  const to = `http://watches.example:${receiver.port}/`;
  try {
    await within(database, (tx) => putWebhooks(tx, { subject: 'watch x', url: to }, [{ n: 1 }, { n: 2 }]));
    await waitUntil(() => receiver.received.length === 1);
    await waitUntil(async () => (await readWebhooks(database.pool, 'watch x', 0, 1))[0]?.tries === 1);
    expect(await readWaitingSubjects(database.pool, ['watch'])).toEqual(['watch x']);
    await deleteWaiting(database.pool, ['watch x', 'watch unknown']);
    expect(await told('watch x')).toEqual([]);
    expect(await readWaitingSubjects(database.pool, ['watch'])).toEqual([]);
    await within(database, (tx) => putWebhooks(tx, { subject: 'watch x', url: to }, [{ n: 3 }]));
    await waitUntil(() => receiver.received.length === 2);
    expect(receiver.received[1]?.body.toString()).toBe('{"n":3}');
  } finally {
    await sending.stop();
    await receiver.close();
  }
});
