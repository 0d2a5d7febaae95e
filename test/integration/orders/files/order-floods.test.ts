import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

/** What anybody can do who makes orders and pays for none. */
let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp(1_000_000);
}, 120_000);
afterAll(() => http.close());

/** An order of a client of its own. */
const inscribe = (
  remoteAddress: string,
  files: readonly object[],
  headers: Readonly<Record<string, string>> = {},
) => http.app.inject({ method: 'POST', url: '/inscribe', headers, payload: orderOf(files), remoteAddress });
const orderOf = (files: readonly object[]) => ({ files, receiveAddress: addressOf(700), fee: '3' });
const fileOf = (content: string) => ({
  name: 'a.txt',
  dataURL: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
});

async function rowsOf(table: string): Promise<number> {
  const { rows } = await http.database.pool.query<{ count: number }>(
    `SELECT count(*) AS count FROM service.${table}`,
  );
  return Number(rows[0]!.count);
}

test('files of an order are written a few at a time, not with an open file for each', async () => {
  let most = 0;
  let now = 0;
  const put = Reflect.get(CustomerFiles.prototype, 'put') as CustomerFiles['put'];
  const files = new CustomerFiles(http.filesDir);
  const spy = vi.spyOn(CustomerFiles.prototype, 'put').mockImplementation(async (content) => {
    most = Math.max(most, ++now);
    try {
      return await put.call(files, content);
    } finally {
      now--;
    }
  });
  try {
    const sent = Array.from({ length: 100 }, (_, index) => fileOf(String(index)));
    expect((await inscribe('192.0.2.1', sent)).statusCode).toBe(200);
  } finally {
    spy.mockRestore();
  }
  expect(most).toBe(8);
});

test('a client stores no more in a day than it may, and is told when it may again', async () => {
  const text = (index: number): string => `${index}`.padEnd(120_000, 'x');
  let refused = await inscribe('192.0.2.2', [fileOf(text(0))]);
  for (let index = 1; index < 10 && refused.statusCode === 200; index++)
    refused = await inscribe('192.0.2.2', [fileOf(text(index))]);
  expect(refused.statusCode).toBe(429);
  expect(refused.body).toContain('in a day');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  const before = { orders: await rowsOf('orders'), scripts: await rowsOf('watched_scripts') };
  const keyed = await inscribe('192.0.2.2', [fileOf(text(99))], {
    'idempotency-key': 'full',
  });
  expect(keyed.statusCode).toBe(429);
  expect({ orders: await rowsOf('orders'), scripts: await rowsOf('watched_scripts') }).toEqual(before);
  expect(await rowsOf('idempotency_keys')).toBe(0);
  expect((await inscribe('192.0.2.3', [fileOf('a')])).statusCode).toBe(200);
});

test('a full disk takes no orders, and says so', async () => {
  const spy = vi.spyOn(CustomerFiles.prototype, 'freeBytes').mockResolvedValue(1_000_000_000);
  try {
    const { statusCode, body } = await inscribe('192.0.2.4', [fileOf('a')]);
    expect(statusCode).toBe(503);
    expect(body).toContain('no room');
  } finally {
    spy.mockRestore();
  }
});
