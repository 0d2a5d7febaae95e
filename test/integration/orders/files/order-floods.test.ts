import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { type OutgoingAnswer, OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Attacks by clients that make orders and pay for none of them. */
let http: OrdersApp;
const bytesADay = 1_000_000;
beforeAll(async () => {
  http = await createOrdersApp(bytesADay);
});
afterAll(() => http.close());

/** Makes an order of a separate client. */
const inscribe = async (
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

test('a client stores no more in a day than its bound, and learns when it may store again', async () => {
  const text = (index: number): string => `${index}`.padEnd(120_000, 'x');
  let refused = await inscribe('192.0.2.2', [fileOf(text(0))]);
  for (let index = 1; index < 10 && refused.statusCode === 200; index++)
    refused = await inscribe('192.0.2.2', [fileOf(text(index))]);
  expect(refused.statusCode).toBe(429);
  expect(refused.body).toContain('in a day');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  const rows = async () => ({
    orders: await rowsOf('orders'),
    scripts: await rowsOf('watched_scripts'),
    keys: await rowsOf('idempotency_keys'),
  });
  const before = await rows();
  const keyed = await inscribe('192.0.2.2', [fileOf(text(99))], {
    'idempotency-key': 'full',
  });
  expect(keyed.statusCode).toBe(429);
  expect(await rows()).toEqual(before);
  expect((await inscribe('192.0.2.3', [fileOf('a')])).statusCode).toBe(200);
});

test('the bytes of a client include everything stored: metadata, names, addresses and shown fields, not only contents', async () => {
  const json = JSON.stringify({ of: 'm'.repeat(20_000) });
  const metadataDataURL = `data:application/json;base64,${Buffer.from(json).toString('base64')}`;
  const small = { ...fileOf('a'), metadataDataURL };
  const named = (index: number) => ({
    ...fileOf('a'),
    name: `${index}${'n'.repeat(4_000)}.txt`,
    metaprotocol: 'p'.repeat(500),
  });
  const floods: (readonly [string, object])[] = [
    ['192.0.2.10', orderOf(Array.from({ length: 4 }, () => small))],
    ['192.0.2.11', orderOf(Array.from({ length: 10 }, (_, index) => named(index)))],
    [
      '192.0.2.12',
      {
        ...orderOf([fileOf('a')]),
        burnAfterInscribe: true,
        receiveAddress: Array.from({ length: 2_000 }, () => addressOf(700)),
        postage: 546,
      },
    ],
    [
      '192.0.2.13',
      {
        ...orderOf([fileOf('a')]),
        projectTag: 't'.repeat(4_000),
        webhookUrl: `https://example.com/${'w'.repeat(4_000)}`,
      },
    ],
  ];
  for (const [remoteAddress, payload] of floods) {
    const before = await storedBytes();
    let stored = 0;
    let answer = await post(remoteAddress, payload);
    for (let orders = 1; answer.statusCode === 200; orders++) {
      expect(orders).toBeLessThan(60);
      stored = (await storedBytes()) - before;
      answer = await post(remoteAddress, payload);
    }
    expect(answer.statusCode, answer.body).toBe(429);
    expect(answer.body).toContain('in a day');
    // never more bytes are stored than were counted, and most of the counted bytes are stored
    expect(stored).toBeLessThanOrEqual(bytesADay);
    expect(stored).toBeGreaterThan(0);
  }
  const { rows } = await http.database.pool.query(
    'SELECT FROM service.orders WHERE octet_length(request::text) > 200000',
  );
  expect(rows).toEqual([]);
});

/** Number of keys. Each request for an order has its own key, because the responses to keys are stored too. */
let keys = 0;
const post = (remoteAddress: string, payload: object) =>
  http.app.inject({
    method: 'POST',
    url: '/inscribe',
    headers: { 'idempotency-key': `flood-${keys++}` },
    payload,
    remoteAddress,
  });

/** Bytes of rows and contents of all orders, uncompressed. */
async function storedBytes(): Promise<number> {
  const tables = [
    'orders',
    'order_files',
    'order_leaves',
    'order_parents',
    'idempotency_keys',
    'watched_scripts',
  ];
  const sums = tables.map(
    (table) =>
      `(SELECT coalesce(sum(${table === 'order_leaves' ? 'octet_length(leaf)' : 'octet_length(r::text)'}), 0) FROM service.${table} AS r)`,
  );
  const { rows } = await http.database.pool.query<{ bytes: string }>(
    `SELECT (${sums.join(' + ')})::bigint AS bytes`,
  );
  return Number(rows[0]!.bytes);
}

test('half of the places for files at URLs stay free for others, whatever the addresses of one network fetch', async () => {
  const release = Promise.withResolvers<OutgoingAnswer>();
  const fetching = vi.spyOn(OutgoingHttp.prototype, 'get').mockReturnValue(release.promise);
  const atUrl = [{ name: 'a.txt', size: 1, url: 'http://example.com/a.txt' }];
  try {
    const held = ['198.51.100.1', '198.51.100.1', '198.51.100.2', '198.51.100.3'].map((from) =>
      inscribe(from, atUrl),
    );
    await waitUntil(async () => fetching.mock.calls.length === held.length);
    const own = await inscribe('198.51.100.1', atUrl);
    expect([own.statusCode, own.body]).toEqual([
      429,
      expect.stringContaining('you already have 2') as string,
    ]);
    const network = await inscribe('198.51.100.4', atUrl);
    expect(network.statusCode).toBe(429);
    expect(network.body).toContain('your network already has 4');
    const others = ['203.0.113.1', '203.0.113.1'].map((from) => inscribe(from, atUrl));
    await waitUntil(async () => fetching.mock.calls.length === held.length + others.length);
    release.resolve({ status: 404, bytes: new Uint8Array() });
    for (const answer of await Promise.all([...held, ...others]))
      expect(answer.body).toContain('answers with status 404');
    // the slots for fetching files are free again
    expect((await inscribe('198.51.100.4', atUrl)).body).toContain('answers with status 404');
  } finally {
    fetching.mockRestore();
  }
});

test('a full disk takes no orders, and says so', async () => {
  const spy = vi.spyOn(CustomerFiles.prototype, 'freeBytes').mockResolvedValue(1_000_000_000);
  try {
    const { statusCode, body } = await inscribe('192.0.2.4', [fileOf('a')]);
    expect(statusCode).toBe(503);
    expect(body).toContain('no space');
  } finally {
    spy.mockRestore();
  }
});
