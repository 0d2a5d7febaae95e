import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { revokeKeys } from '#accounts/account.store.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { keyMemoryMs } from '#accounts/key-directory.ts';
import { usageSince } from '#accounts/usage.store.ts';
import {
  type AccessOptions,
  giveKey,
  type TestAccess,
  testAccess,
} from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

let http: HttpApp;
let given: TestAccess;
let now = 0;
/** Maximum number of requests with unknown keys from one IP address in a minute. */
const unknownKeysMax = 60;

async function open(options: AccessOptions = {}, trustedProxies: readonly string[] = []): Promise<void> {
  const access = ({ accessPool }: HttpApp['database']): TestAccess['access'] => {
    given = testAccess(accessPool, { now: () => now, ...options });
    return given.access;
  };
  http = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'text' }] }], {
    access,
    trustedProxies,
  });
}

beforeEach(() => {
  now = 0;
});
afterEach(async () => {
  await given.close();
  await http.close();
});

interface Asked {
  readonly status: number;
  readonly body: { status: string; error?: string; reason?: string };
  readonly headers: Readonly<Record<string, unknown>>;
}

async function ask(
  headers: Record<string, string> = {},
  url = '/search?text=text',
  remoteAddress = '192.0.2.1',
): Promise<Asked> {
  const answer = await http.app.inject({ url, headers, remoteAddress });
  const isJson = String(answer.headers['content-type']).startsWith('application/json');
  return {
    status: answer.statusCode,
    body: isJson ? answer.json() : { status: 'page' },
    headers: answer.headers,
  };
}

const refused = (error: string): object => ({
  body: { status: 'error', error: expect.stringContaining(error) as string },
});

const paths = [
  '/search?text=text',
  `/search?hash=${'0'.repeat(64)}`,
  '/indexer/metadata?text=a',
  `/indexer/inscription?id=${'0'.repeat(64)}i0`,
];

test('the terms of a changed or revoked key apply until it is looked up again', async () => {
  await open({ mode: 'open' });
  const { pool } = http.database;
  const { key, account } = await giveKey(pool, { terms: { directBaseFee: 700 } });
  const baseFee = async (): Promise<unknown> =>
    (await ask({ 'x-api-key': key }, '/price?size=1&type=direct')).body['baseFee' as 'error'];
  expect(await baseFee()).toBe(700);
  await pool.query('UPDATE service.keys SET direct_base_fee = 600 WHERE account = $1', [account]);
  now = keyMemoryMs - 1;
  expect(await baseFee()).toBe(700);
  now = keyMemoryMs;
  expect(await baseFee()).toBe(600);
  await revokeKeys(pool, { account, scopes: [], key: null });
  now = 2 * keyMemoryMs - 1;
  expect(await baseFee()).toBe(600);
  now = 2 * keyMemoryMs;
  expect(await baseFee()).toBe(2000);
});

describe('a restricted search', () => {
  test.each(paths)(
    '%s is answered with a key, and refused without one before anything else is checked',
    async (path) => {
      await open();
      const { key } = await giveKey(http.database.pool);
      expect(await ask({ 'x-api-key': key }, path)).toMatchObject({ status: 200, body: { status: 'ok' } });
      for (const empty of [{}, { 'x-api-key': '' }, { 'x-api-key': '  ' }]) {
        const answer = await ask(empty, path);
        expect(answer).toMatchObject({ status: 401, ...refused('need a key') });
        expect(Object.keys(answer.body)).toEqual(['status', 'error']);
        expect(String(answer.headers['www-authenticate'])).toContain('x-api-key');
        expect(answer.headers['access-control-allow-origin']).toBe('*');
        expect(answer.headers['cache-control']).toBe('no-store');
      }
      // other faults have the same result, because a client without access must learn no details
      expect((await ask({}, `${path}&page=0`)).status).toBe(401);
    },
  );

  test('of many hashes is refused before the body is read', async () => {
    await open();
    const { key } = await giveKey(http.database.pool);
    const post = (headers: Record<string, string>, payload: string): Promise<{ statusCode: number }> =>
      http.app.inject({
        method: 'POST',
        url: '/search/hashes',
        headers: { 'content-type': 'application/json', ...headers },
        payload,
      });
    expect((await post({}, 'no JSON')).statusCode).toBe(401);
    expect((await post({ 'x-api-key': key }, JSON.stringify({ hashes: ['0'.repeat(64)] }))).statusCode).toBe(
      200,
    );
  });

  test('with a mistyped, unknown or repeated key is 401, with the same message', async () => {
    await open();
    const { key } = await giveKey(http.database.pool);
    const unknown = newApiKey().key;
    for (const wrong of [
      'x',
      'é',
      key.slice(0, -1),
      `${key}0`,
      key.toUpperCase(),
      `${key}, ${key}`,
      unknown,
      `'; DROP TABLE --`,
    ]) {
      expect(await ask({ 'x-api-key': wrong })).toMatchObject({
        status: 401,
        ...refused('key is not valid'),
      });
    }
    expect((await ask({ 'x-api-key': ` ${key} ` })).status).toBe(200);
  });

  test('also accepts the key as Authorization: Bearer', async () => {
    await open();
    const { key } = await giveKey(http.database.pool);
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer   ${key} `, 'x-api-key': '' },
      { authorization: `Bearer ${key}`, 'x-api-key': key },
      { authorization: 'Bearer', 'x-api-key': key },
      { authorization: 'Basic YTpi', 'x-api-key': key },
    ])
      expect({ headers, status: (await ask(headers)).status }).toEqual({ headers, status: 200 });
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic YTpi', key]) {
      const answer = await ask({ authorization });
      expect(answer).toMatchObject({ status: 401, ...refused('need a key') });
      expect(String(answer.headers['www-authenticate'])).toContain('Bearer realm="search"');
      expect(answer.headers['vary']).toContain('Authorization');
    }
    expect(await ask({ authorization: 'Bearer x' })).toMatchObject({
      status: 401,
      ...refused('key is not valid'),
    });
  });

  test('with two different keys is 401, even if one is valid', async () => {
    await open();
    const { key } = await giveKey(http.database.pool);
    const { key: other } = await giveKey(http.database.pool);
    for (const [apiKey, bearer] of [
      [key, other],
      [key, 'x'],
      ['x', key],
    ]) {
      const answer = await ask({
        'x-api-key': apiKey as string,
        authorization: `Bearer ${bearer as string}`,
      });
      expect(answer).toMatchObject({ status: 401, ...refused('have different keys') });
    }
  });

  test('accepts a key that has the scope of searches among others', async () => {
    await open();
    const { key } = await giveKey(http.database.pool, { scopes: ['orders', 'search'] });
    expect((await ask({ 'x-api-key': key })).status).toBe(200);
    const { key: other } = await giveKey(http.database.pool, { scopes: ['orders', 'admin'] });
    expect(await ask({ 'x-api-key': other })).toMatchObject({ status: 403, ...refused('for orders, admin') });
  });

  test('with a key of another scope is 403', async () => {
    await open();
    for (const scope of ['tokenpay', 'admin'] as const) {
      const { key } = await giveKey(http.database.pool, { scopes: [scope] });
      const answer = await ask({ 'x-api-key': key });
      expect(answer).toMatchObject({ status: 403, ...refused(`for ${scope}`) });
      expect(answer.headers['www-authenticate']).toBeUndefined();
    }
  });

  test('with a revoked key is 401 within the stated time', async () => {
    await open();
    const { key, account } = await giveKey(http.database.pool);
    expect((await ask({ 'x-api-key': key })).status).toBe(200);
    await revokeKeys(http.database.pool, { account, scopes: [], key: null });
    now += keyMemoryMs;
    expect(await ask({ 'x-api-key': key })).toMatchObject({
      status: 401,
      ...refused('key is not valid'),
    });
  });

  test('is answered for pages of listed domains and of this server, but not for other pages', async () => {
    await open({ domains: 'example.com,*.shop.example', ownHost: 'satscribe.test' });
    const cases: readonly [number, Record<string, string>][] = [
      [200, { origin: 'https://example.com' }],
      [200, { origin: 'https://EXAMPLE.COM:8443' }],
      [200, { origin: 'https://a.shop.example' }],
      [200, { referer: 'https://example.com/page?text=1' }],
      [200, { origin: 'https://satscribe.test' }],
      [200, { 'sec-fetch-site': 'same-origin' }],
      [401, { origin: 'https://shop.example' }],
      [401, { origin: 'https://evilexample.com' }],
      [401, { origin: 'https://example.com.evil.net' }],
      [401, { origin: 'https://satscribe.test:8443' }],
      [401, { origin: 'null' }],
      [401, { origin: 'https://evil.net', referer: 'https://example.com/' }],
      [401, { 'sec-fetch-site': 'same-site' }],
      [401, { host: 'evil.net', origin: 'https://evil.net' }],
    ];
    for (const [status, headers] of cases) {
      expect({ headers, status: (await ask(headers)).status }).toEqual({ headers, status });
    }
  });

  test('names the domain that is not listed', async () => {
    await open({ domains: 'example.com' });
    expect(await ask({ origin: 'https://other.example' })).toMatchObject(
      refused('pages of other.example need a key'),
    );
  });

  test('from our own pages needs no key if no PUBLIC_URL is set', async () => {
    await open();
    expect((await ask({ host: '192.0.2.9:7700', referer: 'http://192.0.2.9:7700/?text=a' })).status).toBe(
      200,
    );
    expect((await ask({ host: '192.0.2.9:7700', origin: 'http://192.0.2.9:7701' })).status).toBe(401);
  });

  test('does not concern pages, redirects, contents and preflights', async () => {
    await open();
    expect((await ask({ accept: 'text/html' }, '/?text=text')).status).toBe(200);
    expect((await ask({}, '/search/text')).status).toBe(303);
    expect((await ask({}, '/search?query=text')).status).toBe(303);
    expect((await ask({}, '/status')).status).toBe(200);
    const preflight = await http.app.inject({
      method: 'OPTIONS',
      url: '/search?text=a',
      headers: {
        origin: 'https://a.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key',
      },
    });
    expect(preflight.statusCode).toBe(204);
    for (const name of ['x-api-key', 'Authorization', 'Idempotency-Key'])
      expect(preflight.headers['access-control-allow-headers']).toContain(name);
    expect(preflight.headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
  });

  test('does not concern scans of sats: they need no key, and have a separate rate per address', async () => {
    await open({ mode: 'keys', buildRate: '2/60' });
    const scan = () =>
      ask({}, '/satscanner/find-special-ranges?address=bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080');
    expect([(await scan()).status, (await scan()).status]).toEqual([404, 404]);
    const third = await scan();
    expect(third.status).toBe(429);
    expect(third.body).toMatchObject({ error: expect.stringContaining('2 a minute') as string });
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask({}, '/search/text')).status).toBe(303);
    expect((await ask({}, '/satscanner/supported-satributes')).status).toBe(200);
    const { key } = await giveKey(http.database.pool);
    expect((await ask({ 'x-api-key': key }, '/satscanner/find-special-ranges')).status).toBe(400);
  });

  test('leaves no key in the log', async () => {
    await open();
    const { key } = await giveKey(http.database.pool);
    await http.database.pool.query('ALTER TABLE service.keys RENAME TO keys_away');
    expect(await ask({ 'x-api-key': key })).toMatchObject({ status: 503, body: { status: 'error' } });
    expect(http.logged).toHaveLength(1);
    http.app.log.error({ headers: { 'x-api-key': key }, url: `/search?text=${key}` }, `with ${key}`);
    expect(http.logged).toHaveLength(2);
    expect(JSON.stringify(http.logged)).not.toContain(key);
  });
});

describe('an open search', () => {
  test('uses the rate of a valid key, and ignores any other: clients send keys of other services', async () => {
    await open({ mode: 'open', addressRate: '7' });
    const { key } = await giveKey(http.database.pool, { rate: '50' });
    const { key: other } = await giveKey(http.database.pool, { scopes: ['admin'] });
    const limit = async (headers: Record<string, string>): Promise<unknown> => {
      const { status, headers: answered } = await ask(headers);
      expect(status).toBe(200);
      return answered['x-ratelimit-limit'];
    };
    expect(await limit({ 'x-api-key': key })).toBe('50');
    for (const none of ['', 'a key of others', newApiKey().key, other])
      expect(await limit({ 'x-api-key': none })).toBe('7');
  });
});

describe('a rate', () => {
  test('of 2 in 10 seconds allows two at once, and then one every 5 seconds', async () => {
    await open({ mode: 'open', addressRate: '2/10' });
    expect((await ask()).headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
    expect((await ask()).status).toBe(200);
    const third = await ask();
    expect(third).toMatchObject({
      status: 429,
      ...refused('this address may make only 2 in 10 s; try again in 5 s'),
    });
    expect(third.headers['retry-after']).toBe('5');
    expect(Number(third.headers['x-ratelimit-reset'])).toBeLessThanOrEqual(10);
    expect(third.headers['access-control-expose-headers']).toContain('Retry-After');
  });

  test('of 0 means no limit, also for a key and for unknown keys', async () => {
    await open({ addressRate: '1', unknownKeyRate: '0' });
    const { key } = await giveKey(http.database.pool, { rate: '0' });
    for (let request = 0; request < 3; request++) {
      const { status, headers } = await ask({ 'x-api-key': key });
      expect({ status, limit: headers['x-ratelimit-limit'] }).toEqual({ status: 200, limit: undefined });
    }
    for (let guess = 0; guess < unknownKeysMax + 5; guess++)
      expect((await ask({ 'x-api-key': newApiKey().key })).status).toBe(401);
  });

  test('of a key is counted down, and ends in 429 with the time to wait', async () => {
    await open({ addressRate: '2' });
    const { key, id } = await giveKey(http.database.pool, { rate: '3' });
    for (const left of ['2', '1', '0']) {
      const { status, headers } = await ask({ 'x-api-key': key });
      expect(status).toBe(200);
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': left });
      expect(headers['access-control-expose-headers']).toContain('X-RateLimit-Remaining');
    }
    // this is also true from another IP address
    for (const address of ['192.0.2.1', '198.51.100.7']) {
      const { status, body, headers } = await ask({ 'x-api-key': key }, '/search?text=text', address);
      expect(status).toBe(429);
      expect(body).toEqual({
        status: 'error',
        error: expect.stringMatching(
          /^too many requests, because this key may make only 3 a minute/u,
        ) as string,
      });
      expect(Number(headers['retry-after'])).toBeGreaterThan(15);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(20);
    }
    await given.usage.flush();
    expect(await usageSince(http.database.pool, [id], '2026-01-01')).toMatchObject([
      { endpoints: 'search', requests: 3, refused: 2 },
    ]);
  });

  test('of an address applies to all its clients without a key, and to searches of the page', async () => {
    await open({ mode: 'open', addressRate: '3' });
    expect((await ask({ accept: 'text/html' }, '/?text=a')).status).toBe(200);
    expect((await ask({}, '/search/text')).status).toBe(303);
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
    const page = await ask({ accept: 'text/html' }, '/?text=a');
    expect(page.status).toBe(429);
    expect(page.headers['content-type']).toContain('text/html');
    // other kinds of requests are not counted
    expect((await ask({ accept: 'text/html' }, '/')).status).toBe(200);
    expect((await ask({}, '/search?text=a', '192.0.2.2')).status).toBe(200);
  });

  test('of IPv6 applies to the network of one machine', async () => {
    await open({ mode: 'open', addressRate: '2' });
    expect((await ask({}, '/search?text=a', '2001:db8::1')).status).toBe(200);
    expect((await ask({}, '/search?text=a', '2001:db8::2')).status).toBe(200);
    expect((await ask({}, '/search?text=a', '2001:db8:0:0:ffff::3')).status).toBe(429);
    expect((await ask({}, '/search?text=a', '2001:db8:0:1::1')).status).toBe(200);
  });

  test('counts for the client that a trusted proxy names, and ignores names from others', async () => {
    await open({ mode: 'open', addressRate: '1' }, ['192.0.2.0/24']);
    const by = async (forwarded: string, from: string): Promise<number> =>
      (await ask({ 'x-forwarded-for': forwarded }, '/search?text=a', from)).status;
    expect(await by('203.0.113.1', '192.0.2.1')).toBe(200);
    expect(await by('203.0.113.2', '192.0.2.1')).toBe(200);
    // the client itself wrote the text before the proxy's entry
    expect(await by('203.0.113.3, 203.0.113.1', '192.0.2.1')).toBe(429);
    expect(await by('203.0.113.4', '198.51.100.1')).toBe(200);
    expect(await by('203.0.113.5', '198.51.100.1')).toBe(429);
  });

  test.each([
    '203.0.113.9:1001',
    '[2001:db8:1::1]:443',
    '[2001:db8:1::1]',
    '"192.0.2.77"',
    '198.51.100.200:5555, 127.0.0.1',
  ])('reads a client that a proxy writes as %s', async (written) => {
    await open({ mode: 'open', addressRate: '1/600' }, ['loopback']);
    const asked = async (forwardedFor: string): Promise<number> =>
      (await ask({ 'x-forwarded-for': forwardedFor }, undefined, '127.0.0.1')).status;
    expect(await asked(written)).toBe(200);
    // this address belongs to another client
    expect(await asked('203.0.113.200:7')).toBe(200);
    expect(await asked(written)).toBe(429);
    expect(http.logged).toEqual([]);
  });

  test.each(['unknown', '_hidden', 'unix:', 'not an address'])(
    'counts for the proxy if a trusted proxy writes %s, which is logged once',
    async (written) => {
      await open({ mode: 'open', addressRate: '2/600' }, ['loopback']);
      for (const status of [200, 200, 429])
        expect((await ask({ 'x-forwarded-for': written }, undefined, '127.0.0.1')).status).toBe(status);
      // named clients are not refused because of clients without a name
      expect((await ask({ 'x-forwarded-for': '203.0.113.9' }, undefined, '127.0.0.1')).status).toBe(200);
      expect(http.logged).toMatchObject([{ level: 40, proxy: '127.0.0.1', instead: written }]);
    },
  );

  test('counts for the connection if no proxy is trusted', async () => {
    await open({ mode: 'open', addressRate: '1' });
    expect((await ask({ 'x-forwarded-for': '203.0.113.1', forwarded: 'for=203.0.113.1' })).status).toBe(200);
    expect((await ask({ 'x-forwarded-for': '203.0.113.2', forwarded: 'for=203.0.113.2' })).status).toBe(429);
  });

  test('of unknown keys counts per prefix and address, and never for a valid key', async () => {
    await open();
    const { key, prefix } = await giveKey(http.database.pool);
    const like = keyLike(prefix);
    const statuses: number[] = [];
    for (let guess = 0; guess < unknownKeysMax + 5; guess++) {
      statuses.push((await ask({ 'x-api-key': like })).status);
      now += keyMemoryMs / 100;
    }
    expect(new Set(statuses.slice(0, unknownKeysMax))).toEqual(new Set([401]));
    expect(statuses.at(-1)).toBe(429);
    const refusal = await ask({ 'x-api-key': like });
    expect(refusal).toMatchObject({ status: 429, ...refused('an unknown key may make only 60 a minute') });
    expect(Number(refusal.headers['retry-after'])).toBe(1);
    // a valid key with the same prefix and IP address, which this process has not seen yet
    expect((await ask({ 'x-api-key': key })).status).toBe(200);
    expect((await ask({ 'x-api-key': newApiKey().key })).status).toBe(401);
    expect((await ask({ 'x-api-key': like }, '/search?text=a', '192.0.2.2')).status).toBe(401);
  });

  test('of unknown keys of an address: many together cost one statement, and a valid key among them is accepted', async () => {
    await open();
    const { key } = await giveKey(http.database.pool);
    const guess = (): Promise<Asked> => ask({ 'x-api-key': newApiKey().key });
    for (let count = 0; count < unknownKeysMax; count++) await guess();
    const statements = vi.spyOn(http.database.pool, 'query');
    const guesses = Array.from({ length: 400 }, guess);
    const good = ask({ 'x-api-key': key });
    expect((await good).status).toBe(200);
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]));
    const lookUps = statements.mock.calls.filter(([text]) => String(text).includes('service.keys'));
    expect(lookUps.length).toBeLessThan(8);
  });

  test.each([
    ['no header', [{}]],
    ['an empty header', [{ 'x-forwarded-for': '' }, { 'x-forwarded-for': ' , ' }, { forwarded: '' }]],
    // a client sends this header to count as the proxy, or to count always as another client of its network
    [
      'the header of its client',
      [
        { 'x-forwarded-for': '192.0.2.1' },
        { 'x-forwarded-for': '192.0.2.7' },
        { 'x-forwarded-for': '192.0.2.8, 192.0.2.9' },
        { 'x-forwarded-for': 'me' },
        { forwarded: 'for=_hidden' },
      ],
    ],
  ] as const)(
    'of an address counts for a trusted proxy that names no client, but sends %s',
    async (_, sent) => {
      await open({ mode: 'open', addressRate: '3/600' }, ['192.0.2.0/24']);
      const asked = [...sent, ...sent, ...sent, ...sent];
      const statuses: number[] = [];
      for (const headers of asked) statuses.push((await ask(headers)).status);
      expect(statuses).toEqual(asked.map((_, place) => (place < 3 ? 200 : 429)));
      expect((await ask({ 'x-forwarded-for': '203.0.113.1' })).headers['x-ratelimit-limit']).toBe('3');
    },
  );
});

/** A key with this prefix that does not exist. */
function keyLike(prefix: string): string {
  const digits = Buffer.from(prefix.slice('satscribe_'.length), 'hex');
  return newApiKey((bytes) => Buffer.concat([digits, randomBytes(bytes - digits.length)])).key;
}
