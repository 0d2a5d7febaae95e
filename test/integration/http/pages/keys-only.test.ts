import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { revokeKeys } from '#accounts/account.store.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { keyMemoryMs } from '#accounts/key-directory.ts';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const given: TestAccess[] = [];
let http: HttpApp;
let restricted: HttpApp;
let now = 0;

const appWith = (mode: 'keys' | 'restricted'): Promise<HttpApp> =>
  createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'text' }] }], {
    access: ({ accessPool }) => {
      const opened = testAccess(accessPool, { mode, ownHost: 'satscribe.test', now: () => now });
      given.push(opened);
      return opened.access;
    },
  });

beforeAll(async () => {
  http = await appWith('keys');
  restricted = await appWith('restricted');
});
afterEach(() => {
  now = 0;
});
afterAll(async () => {
  await Promise.all(given.map((opened) => opened.close()));
  await http.close();
  await restricted.close();
});

const searches = [
  '/search?text=text',
  '/search.atom?text=text',
  '/search/suggest?text=te',
  '/?text=text',
  '/?q=text',
  `/?hash=${'0'.repeat(64)}`,
];
/** Headers by which browsers and programs show that the request comes from a page of this server. */
const claims: readonly Record<string, string>[] = [
  {},
  { 'sec-fetch-site': 'same-origin' },
  { origin: 'https://satscribe.test' },
  { referer: 'https://satscribe.test/?text=a' },
];
const html = { accept: 'text/html' };

async function statusOf(url: string, headers: Record<string, string>, { app } = http): Promise<number> {
  return (await app.inject({ url, headers })).statusCode;
}

interface Kept {
  readonly status: number;
  readonly location: unknown;
  /** The cookie as `name=value`, as a browser sends it. Absent if no cookie was set. */
  readonly cookie: string | undefined;
  readonly setCookie: string;
}

async function keep(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Kept> {
  const answer = await http.app.inject({
    method: 'POST',
    url: '/key',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...html, ...headers },
    payload: new URLSearchParams(fields).toString(),
  });
  const setCookie = String(answer.headers['set-cookie'] ?? '');
  return {
    status: answer.statusCode,
    location: answer.headers['location'],
    cookie: /^[^;]+/u.exec(setCookie)?.[0],
    setCookie,
  };
}

test('no page of ours searches without a key, whatever its headers say', async () => {
  const { key } = await giveKey(http.database.pool);
  for (const url of searches) {
    for (const claim of claims)
      expect({ url, claim, status: await statusOf(url, claim) }).toMatchObject({ status: 401 });
    expect(await statusOf(url, { 'x-api-key': key })).not.toBe(401);
  }
  // paths without a search are open
  expect(await statusOf('/', html)).toBe(200);
  expect(await statusOf('/search/text', {})).toBe(303);
});

test('a person enters the key in a form, and searches with its cookie', async () => {
  const { key } = await giveKey(http.database.pool, { rate: '50' });
  const refused = await http.app.inject({ url: '/?text=text&in=metadata', headers: html });
  expect(refused.statusCode).toBe(401);
  expect(refused.body).toContain('action="/key" method="post"');
  expect(refused.body).toContain('name="to" value="/?text=text&amp;in=metadata"');
  const { status, location, cookie, setCookie } = await keep({
    key: ` ${key} `,
    to: '/?text=text&in=metadata',
  });
  expect({ status, location }).toEqual({ status: 303, location: '/?text=text&in=metadata' });
  expect(setCookie).toBe(`satscribe_key=${key}; Path=/; HttpOnly; SameSite=Strict`);
  for (const url of searches) expect([200, 303]).toContain(await statusOf(url, { cookie: cookie ?? '' }));
  const answer = await http.app.inject({ url: '/?text=text', headers: { cookie: cookie ?? '' } });
  expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '50' });
  expect(answer.headers['vary']).toContain('Cookie');
});

test('a cookie that was set over https is only sent over https', async () => {
  const { key } = await giveKey(http.database.pool);
  const app = await createHttpApp([], { trustedProxies: ['127.0.0.1'] });
  const answer = await app.app.inject({
    method: 'POST',
    url: '/key',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-proto': 'https' },
    payload: new URLSearchParams({ key }).toString(),
  });
  expect(answer.headers['set-cookie']).toContain('; Secure');
  await app.close();
});

test('no cookie is set for an invalid key, for another site, or with a foreign target', async () => {
  const { key } = newApiKey();
  for (const wrong of ['x', `${key}0`, `${key}; Domain=evil.example`, 'é']) {
    expect(await keep({ key: wrong })).toMatchObject({ status: 401, cookie: undefined });
  }
  for (const site of ['cross-site', 'same-site']) {
    expect(await keep({ key }, { 'sec-fetch-site': site })).toMatchObject({ status: 403, cookie: undefined });
  }
  for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\n', '/é', '']) {
    expect(await keep({ key, to })).toMatchObject({ status: 400, cookie: undefined });
  }
});

test('a revoked key in a cookie leads to the form, and does not affect pages that need no key', async () => {
  const cookie = `satscribe_key=${newApiKey().key}`;
  const answer = await http.app.inject({ url: '/?text=text', headers: { cookie, ...html } });
  expect(answer.statusCode).toBe(401);
  expect(answer.body).toContain('this key is not valid here');
  expect(answer.body).toContain('name="key"');
  expect(await statusOf('/?text=text', { cookie }, restricted)).toBe(200);
  expect(await statusOf('/search?text=text', { cookie, 'sec-fetch-site': 'same-origin' }, restricted)).toBe(
    200,
  );
  expect(await statusOf('/search?text=text', { cookie }, restricted)).toBe(401);
});

test('a cookie is forgotten with its key', async () => {
  const { key, account } = await giveKey(http.database.pool);
  const cookie = `satscribe_key=${key}`;
  expect(await statusOf('/?text=text', { cookie })).toBe(200);
  await revokeKeys(http.database.pool, { account, scopes: [], key: null });
  now += keyMemoryMs;
  expect(await statusOf('/?text=text', { cookie })).toBe(401);
});
