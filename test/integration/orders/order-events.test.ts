import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { tellCustomer, webhookSubjectOf } from '#orders/customers/tell-customer.ts';
import { readOrder } from '#orders/order/order.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { readWebhooks } from '#webhooks/webhooks.queries.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

const unknown = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
const webhookUrl = 'https://receiver.example/hook?token=secret';

interface Events {
  readonly id: string;
  readonly status: string;
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

interface Faults {
  readonly error: readonly { readonly msg: string }[];
}

/** Makes an order with events of three states. */
async function toldOrder(url: string | null): Promise<string> {
  const { body } = await http.post<{ id: string }>('/inscribe', {
    files: [{ name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' }],
    receiveAddress: addressOf(700),
    webhookUrl: url,
  });
  const { pool } = http.database;
  await withTransaction(pool, async (tx) => {
    const order = await readOrder(tx, body.id);
    for (const state of ['waiting-confirmation', 'prep', 'completed'] as const)
      await tellCustomer(tx, { ...order!, state });
  });
  return body.id;
}

test('events of an order are read in order, from a sequence on, without its URL', async () => {
  const id = await toldOrder(webhookUrl);
  const { status, body, headers } = await http.get<Events>(`/order/events?id=${id}`);
  expect(status).toBe(200);
  expect(headers['cache-control']).toBe('no-store');
  expect(body.status).toBe('ok');
  expect(body.events.map(({ sequence, body: told, delivery }) => [sequence, told, delivery])).toEqual([
    [1, { id, state: 'waiting-confirmation' }, 'waiting'],
    [2, { id, state: 'prep' }, 'waiting'],
    [3, { id, state: 'completed' }, 'waiting'],
  ]);
  expect(JSON.stringify(body)).not.toContain('secret');
  const after = await http.get<Events>(`/order/events?id=${id}&after=2`);
  expect(after.body.events).toHaveLength(1);
  expect(after.body.events[0]).toMatchObject({ sequence: 3, tries: 0 });
  expect((await http.get<Events>(`/order/events?id=${id}&after=3`)).body.events).toEqual([]);
});

test('events are sent again from a sequence on, with the same ids, and nothing else', async () => {
  const { pool } = http.database;
  const id = await toldOrder(webhookUrl);
  const other = await toldOrder(webhookUrl);
  await pool.query(
    `UPDATE service.webhooks SET state = 'delivered', tries = 1, tried_at = now(), status = 200
      WHERE url IS NOT NULL`,
  );
  await pool.query('UPDATE service.webhook_subjects SET head_sequence = NULL, due_at = NULL, host = NULL');
  const before = await readWebhooks(pool, webhookSubjectOf(id), 0, 10);
  const replay = await http.post('/order/events/replay', { id, from: '2' });
  expect(replay).toMatchObject({ status: 200, body: { id, status: 'ok', waiting: 2 } });
  const { events } = (await http.get<Events>(`/order/events?id=${id}`)).body;
  expect(events.map(({ delivery }) => delivery)).toEqual(['delivered', 'waiting', 'waiting']);
  expect(events.map(({ webhookId }) => webhookId)).toEqual(before.map(({ id: webhookId }) => webhookId));
  expect(events[1]).toHaveProperty('nextTryAt');
  const others = (await http.get<Events>(`/order/events?id=${other}`)).body.events;
  expect(others.every(({ delivery }) => delivery === 'delivered')).toBe(true);
});

test('an order without a URL has events that are not sent', async () => {
  const id = await toldOrder(null);
  const { events } = (await http.get<Events>(`/order/events?id=${id}`)).body;
  expect(events.map(({ delivery }) => delivery)).toEqual(['no-url', 'no-url', 'no-url']);
  expect((await http.post('/order/events/replay', { id, from: 1 })).body).toMatchObject({ waiting: 0 });
});

test('faults have the form of orders', async () => {
  const id = await toldOrder(webhookUrl);
  const error = `no such order ${unknown}`;
  expect(await http.get(`/order/events?id=${unknown}`)).toMatchObject({
    status: 200,
    body: { status: 'error', error },
  });
  expect((await http.get('/order/events?id=x')).body).toEqual({ status: 'error', error: 'no such order x' });
  expect((await http.get('/order/events')).body).toEqual({ status: 'error', error: 'id is required.' });
  expect((await http.get(`/order/events?id=${id}&after=-1`)).body).toMatchObject({ status: 'error' });
  expect(await http.post('/order/events/replay', { id: unknown, from: 1 })).toMatchObject({
    status: 404,
    body: { error: [{ msg: error }] },
  });
  for (const from of [0, '0', -1, 1.5, 'x', null]) {
    const { status, body } = await http.post<Faults>('/order/events/replay', { id, from });
    expect([from, status]).toEqual([from, 400]);
    expect(body.error[0]?.msg).toContain('from');
  }
});
