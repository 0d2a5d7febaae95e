import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newApiKey, scopes } from '#accounts/api-key.ts';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

let http: HttpApp;
let given: TestAccess;
/** Keys, one for each scope. */
const keys: string[] = [];

beforeAll(async () => {
  // searches are open, but these paths still need a key
  http = await createHttpApp([{ height: 0, rows: [] }], {
    access: ({ accessPool }) => {
      given = testAccess(accessPool, { mode: 'open' });
      return given.access;
    },
  });
  for (const scope of scopes) keys.push((await giveKey(http.database.pool, { scopes: [scope] })).key);
});
afterAll(async () => {
  await given.close();
  await http.close();
});

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Each call of the public client, and further calls under the same paths. */
const calls: readonly (readonly [Method, string])[] = [
  ...[
    'create-marketplace',
    'create-listing',
    'create-offer',
    'submit-offer',
    'confirm-padding-outputs',
    'setup-padding-outputs',
    'get-listing',
    'confirm-listing',
    'relist',
    'confirm-relist',
    'delist',
    'confirm-delist',
    'transfer-ordinal',
  ].map((name) => ['POST', `/marketplace/${name}`] as const),
  ['PATCH', '/marketplace/save-listing/7'],
  ...[
    'create-marketplace',
    'create-launch',
    'save-launch',
    'get-listings',
    'get-allocation',
    'confirm-padding-outputs',
    'setup-padding-outputs',
    'create-launch-offer',
    'submit-launch-offer',
  ].map((name) => ['POST', `/launchpad/${name}`] as const),
  ['GET', '/launchpad/get-launch-psbt/7'],
  ['GET', '/marketplace'],
  ['GET', '/launchpad/'],
  ['DELETE', '/marketplace/delist/a/b?c=d'],
  ['PUT', '/marketplace//create-listing'],
];

async function ask(
  [method, url]: readonly [Method, string],
  headers: Record<string, string> = {},
): Promise<{ status: number; body: unknown; headers: Readonly<Record<string, unknown>> }> {
  const answer = await http.app.inject({
    method,
    url,
    headers: { origin: 'https://shop.example', accept: 'text/html,*/*', ...headers },
    ...(method === 'GET' || method === 'HEAD' ? {} : { payload: { price: 1 } }),
  });
  return { status: answer.statusCode, body: answer.json<unknown>(), headers: answer.headers };
}

describe('the custodial marketplace and the launchpad', () => {
  test.each(calls)('%s %s is 401 without a key, and 501 with one', async (...call) => {
    const without = await ask(call);
    expect(without.status).toBe(401);
    expect(without.body).toEqual({ status: 'error', error: expect.stringContaining('need a key') as string });
    expect(without.headers).toMatchObject({ 'access-control-allow-origin': '*' });
    expect(without.headers['www-authenticate']).toHaveLength(2);

    const [key = ''] = keys;
    const keyed = await ask(call, { 'x-api-key': key });
    expect(keyed.status).toBe(501);
    expect(keyed.body).toEqual({
      status: 'error',
      error: expect.stringMatching(/are not part of this service; .*\/marketplace\/data/u) as string,
    });
    expect(keyed.headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
  });

  const call = ['POST', '/marketplace/create-listing'] as const;

  test('a key of any scope gets 501, in either header', async () => {
    for (const key of keys) {
      expect((await ask(call, { 'x-api-key': key })).status).toBe(501);
      expect((await ask(call, { authorization: `Bearer ${key}` })).status).toBe(501);
    }
  });

  test.each([
    ['an empty key', { 'x-api-key': '' }],
    ['no key of ours', { 'x-api-key': 'key-of-another-service' }],
    ['an unknown key', { 'x-api-key': newApiKey().key }],
    ['a key in a cookie', { cookie: 'satscribe_key=KEY' }],
    ['two keys', { 'x-api-key': 'KEY', authorization: `Bearer ${newApiKey().key}` }],
    ['a page of ours without a key', { 'sec-fetch-site': 'same-origin' }],
  ])('%s counts as no key', async (_name, headers) => {
    const sent = Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', keys[0] ?? '')]);
    const { status, body } = await ask(call, Object.fromEntries(sent) as Record<string, string>);
    expect(status).toBe(401);
    expect(body).toEqual({ status: 'error', error: expect.any(String) as string });
  });

  test('HEAD has the status of GET, and OPTIONS is a preflight', async () => {
    const [key = ''] = keys;
    expect((await ask(['HEAD', '/launchpad/get-launch-psbt/7'])).status).toBe(401);
    expect((await ask(['HEAD', '/marketplace/x'], { 'x-api-key': key })).status).toBe(501);
    const preflight = await http.app.inject({
      method: 'OPTIONS',
      url: '/marketplace/save-listing/7',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    });
    expect(preflight.statusCode).toBe(204);
    expect(preflight.headers['access-control-allow-methods']).toContain('PATCH');
  });

  test('counts calls of a key with its rate', async () => {
    const { key } = await giveKey(http.database.pool, { rate: '2' });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await ask(call, { 'x-api-key': key })).status);
    expect(statuses).toEqual([501, 501, 429]);
  });

  test('is answered before a byte of the body has arrived', async () => {
    await http.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = http.app.server.address() as { port: number };
    for (const [key, status] of [
      ['', 401],
      [keys[0] ?? '', 501],
    ] as const) {
      const socket = connect(port, '127.0.0.1');
      socket.write(
        `POST /marketplace/create-listing HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 100000000\r\n\r\n`,
      );
      const [first] = (await once(socket, 'data')) as [Buffer];
      expect(first.toString('latin1')).toMatch(new RegExp(`^HTTP/1.1 ${status} `, 'u'));
      socket.destroy();
    }
  });

  test('leaves the data of the market open, and its unknown paths unknown', async () => {
    expect((await ask(['GET', '/marketplace/data/collections'])).status).toBe(200);
    for (const url of [
      '/marketplace/data',
      '/marketplace/data/nothing',
      '/marketplace/data/collections/a/b/c',
    ]) {
      const { status, body } = await ask(['GET', url]);
      expect(status).toBe(404);
      expect(body).toMatchObject({ errors: [{ msg: `there is no ${url}` }], code: 'not_found' });
    }
    expect((await ask(['POST', '/marketplace/data/collections'])).status).toBe(405);
  });
});
