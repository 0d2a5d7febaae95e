import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createHttpApp } from '#test/support/http-app.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const id = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';

const get = (url: string, accept?: string) =>
  http.app.inject({ url, headers: accept === undefined ? {} : { accept } });

test('GET /order without an id is a page for browsers, and the answer of the API for all others', async () => {
  const page = await get('/order', browser);
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers['referrer-policy']).toBe('no-referrer');
  expect(page.headers['vary']).toMatch(/accept\b/iu);
  expect(page.body).toContain('<noscript>');
  for (const accept of [undefined, '*/*', 'application/json']) {
    const answer = await get('/order', accept);
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'error', error: 'id is required.' }]);
    expect(answer.headers['vary']).toMatch(/accept\b/iu);
  }
  // also if a browser names an order's id, because the id must not be on a page of a server
  for (const accept of [browser, '*/*']) {
    expect((await get(`/order?id=${id}`, accept)).json()).toMatchObject({ status: 'error' });
    expect((await get('/order?id=', accept)).json()).toMatchObject({ error: 'id is required.' });
  }
});

test('GET /order/<id> is a page for browsers that does not repeat the id, and JSON for all others', async () => {
  const made = await http.post<{ id: string }>('/inscribe', {
    files: [{ name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' }],
    receiveAddress: addressOf(700),
  });
  for (const shown of [made.body.id, id, 'no-id-of-an-order']) {
    const page = await get(`/order/${shown}`, browser);
    expect([page.statusCode, page.headers['referrer-policy']]).toEqual([200, 'no-referrer']);
    expect(page.body).not.toContain(shown);
    expect(page.body).toContain('id="open-order"');
    expect(JSON.stringify(page.headers)).not.toContain(shown);
  }
  expect((await get(`/order/${made.body.id}`, '*/*')).json()).toMatchObject({ id: made.body.id });
});

test('the page only allows its script to ask for the order and for PSBTs', async () => {
  const { headers } = await get('/order', browser);
  const policies = String(headers['content-security-policy']);
  expect(policies).toContain(
    'connect-src *:*/search/suggest *:*/order *:*/order/cancel *:*/create-special-sats-psbt *:*/create-parent-child-psbt *:*/tokenpay/utils/finalize-psbt *:*/tokenpay/utils/submittx *:*/preview/',
  );
});

test('the order form has the bounds of an order, and POST to its path takes orders', async () => {
  const page = await get('/inscribe', browser);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('<form id="inscribe"');
  const limits = /data-limits="([^"]*)"/u.exec(page.body)?.[1]?.replaceAll('&quot;', '"') ?? '{}';
  expect(JSON.parse(limits)).toMatchObject({
    filesMax: 10_000,
    fileBytesMax: 397_705,
    orderBytesMax: 50_000_000,
  });
  expect((await http.app.inject({ method: 'PUT', url: '/inscribe' })).headers['allow']).toBe(
    'GET, HEAD, POST, OPTIONS',
  );
});

test('a service that takes no orders says why, and what its operator can do', async () => {
  const without = await createHttpApp([]);
  try {
    const page = await without.app.inject({ url: '/inscribe', headers: { accept: browser } });
    expect(page.body).toContain('this service accepts no orders');
    expect(page.body).toContain('satscribe wallet init');
    expect(page.body).not.toContain('<form id="inscribe"');
  } finally {
    await without.close();
  }
  expect((await get('/inscribe', browser)).body).toContain('<form id="inscribe"');
  const { pool } = http.database;
  await pool.query('UPDATE chain.state SET tip_height = NULL, tip_hash = NULL');
  try {
    expect((await get('/inscribe', browser)).body).toContain('no block is indexed');
    expect((await get('/status', browser)).body).toContain('not taken yet, because no block is indexed');
  } finally {
    await pool.query('UPDATE chain.state SET tip_height = 0, tip_hash = $1', [Buffer.alloc(32)]);
  }
});
