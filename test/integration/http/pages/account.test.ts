import { afterEach, expect, test } from 'vitest';
import { revokeKeys } from '#accounts/account.store.ts';
import { keyMemoryMs } from '#accounts/key-directory.ts';
import {
  type AccessOptions,
  giveKey,
  type TestAccess,
  testAccess,
} from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

let http: HttpApp;
let given: TestAccess | null = null;
let now = 0;

afterEach(async () => {
  await given?.close();
  given = null;
  await http.close();
});

async function open(options: AccessOptions | null = {}): Promise<void> {
  now = 0;
  const access = ({ accessPool }: HttpApp['database']): TestAccess['access'] => {
    given = testAccess(accessPool, { now: () => now, ...options });
    return given.access;
  };
  const blocks = [{ height: 0, rows: [{ name: 'a', body: 'text' }] }];
  http = await createHttpApp(blocks, options === null ? {} : { access });
}

interface Shown {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

async function account(key: string | null, more: Record<string, string> = {}): Promise<Shown> {
  const cookie = key === null ? {} : { cookie: `a=b; satscribe_key=${key}` };
  const answer = await http.app.inject({
    url: '/account',
    headers: { accept: 'text/html', ...cookie, ...more },
  });
  return { status: answer.statusCode, body: answer.body, headers: answer.headers };
}

test('a person sees the scopes and usage of the browser’s key', async () => {
  await open();
  const { pool } = http.database;
  const terms = {
    directBaseFee: 700,
    discounts: [{ discount: 12.5, parameter: 'baseFee', type: 'percentage' }],
  } as const;
  const {
    key,
    account: name,
    prefix,
  } = await giveKey(pool, { scopes: ['search', 'orders'], rate: '2', terms });
  const other = await giveKey(pool);
  for (const asking of [key, key, key, other.key])
    await http.app.inject({ url: '/search?text=text', headers: { 'x-api-key': asking } });
  await given?.usage.flush();
  const { status, body, headers } = await account(key);
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  expect(headers['vary']).toContain('Cookie');
  for (const part of [
    name,
    `${prefix}…`,
    'search, orders',
    '2 a minute',
    'direct orders: 700 sats per file',
    'base fee: 12.5 % less',
    '2 requests in 30 days. 1 more were refused',
    '<th scope="row">search</th><td class="num" data-label="Requests">2</td><td class="num" data-label="Refused">1</td>',
    'Requests by day',
  ])
    expect(body).toContain(part);
  // the page has neither the key nor the requests of other keys
  expect(body).not.toContain(key);
  expect(body).not.toContain(other.account);
});

test('a key in a header is not shown, because other pages could send it', async () => {
  await open();
  const { key, account: name } = await giveKey(http.database.pool);
  const { body } = await account(null, { 'x-api-key': key, authorization: `Bearer ${key}` });
  expect(body).not.toContain(name);
  expect(body).toContain('action="/key"');
});

test('without a key there is a form, and an invalid or revoked one can be replaced or forgotten', async () => {
  await open();
  expect((await account(null)).body).toContain('<input type="hidden" name="to" value="/account">');
  const { key, account: name } = await giveKey(http.database.pool);
  expect((await account(key)).body).toContain(name);
  await revokeKeys(http.database.pool, { account: name, scopes: [], key: null });
  // this process remembers the key, but the page reads it again
  for (const wrong of [key, `${key}0`, '<b>']) {
    const { status, body } = await account(wrong);
    expect([status, body.includes(name)]).toEqual([200, false]);
    expect(body).toContain('is not valid here');
    expect(body).toContain('action="/key/forget"');
  }
  now = keyMemoryMs;
  expect((await account(key)).body).toContain('is not valid here');
});

test('too many unknown keys of an address are refused here too', async () => {
  await open({ unknownKeyRate: '2' });
  const { key, account: name } = await giveKey(http.database.pool);
  await revokeKeys(http.database.pool, { account: name, scopes: [], key: null });
  for (let tries = 0; tries < 2; tries++) expect((await account(key)).status).toBe(200);
  expect((await account(key)).status).toBe(429);
});

test('only a form of ours can make the browser forget a key', async () => {
  await open();
  const forget = (headers: Record<string, string>) =>
    http.app.inject({
      method: 'POST',
      url: '/key/forget',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: 'to=%2Faccount',
    });
  const done = await forget({ 'sec-fetch-site': 'same-origin' });
  expect([done.statusCode, done.headers.location]).toEqual([303, '/account']);
  expect(done.headers['set-cookie']).toBe('satscribe_key=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0');
  const other = await forget({ 'sec-fetch-site': 'cross-site' });
  expect([other.statusCode, other.headers['set-cookie']]).toEqual([403, undefined]);
});

test('a server without keys says so', async () => {
  await open(null);
  const { status, body } = await account(null);
  expect(status).toBe(200);
  expect(body).toContain('needs no keys');
});
