import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp, type SearchBody } from '#test/support/http-app.ts';

const wild = `100%_of \\ 'single' "double" – Ünïcödé 🟠 nul:\0:`;

let http: HttpApp;

beforeAll(async () => {
  http = await createHttpApp([
    {
      height: 0,
      rows: [
        { name: 'wild', body: wild },
        { name: 'plain', body: 'ab' },
      ],
    },
  ]);
});

afterAll(async () => {
  await http.close();
});

const search = async (parameters: Record<string, string> | string, path = '/search') => {
  const query = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString();
  const answer = await http.app.inject(`${path}?${query}`);
  return { status: answer.statusCode, body: answer.json<SearchBody>() };
};

describe('legal needles', () => {
  test.each([
    ['one character', 'a', ['plain']],
    ['one character of the other', '%', ['wild']],
    ['two characters', 'AB', ['plain']],
    ['a single quote', "'", ['wild']],
    ['quotes around', `'single' "double"`, ['wild']],
    ['a percent sign and an underscore', '%_', ['wild']],
    ['an underscore that is no wildcard', 'a_b', []],
    ['a backslash', '\\ ', ['wild']],
    ['two backslashes', '\\\\', []],
    ['unicode in another case', 'ÜNÏCÖDÉ', ['wild']],
    ['beyond the first plane', '🟠', ['wild']],
    ['half a character', '\ud83d', []],
    ['NUL', 'nul:\0:', ['wild']],
    ['NUL alone', '\0', ['wild']],
    ['the symbol for NUL', 'nul:\u2400:', ['wild']],
    ['SQL', "'; DROP TABLE chain.blocks; --", []],
    ['a thousand characters', 'x'.repeat(1_000), []],
    ['a thousand characters of four bytes', '🟠'.repeat(1_000), []],
    ['32 needles', Array.from({ length: 32 }, () => 'a').join(','), ['plain']],
  ])('%s', async (_name, text, expected) => {
    const { status, body } = await search({ text: text.toWellFormed() });
    expect(status).toBe(200);
    expect(body.status).toBe('ok');
    expect(body.results.map((record) => record['inscriptionid'])).toEqual(expected.map((name) => idOf(name)));
    expect(body.totalItems).toBe(expected.length);
  });
});

describe('impossible searches are refused with HTTP 200 and an error', () => {
  test.each([
    ['no question', ''],
    ['an empty text', 'text='],
    ['blanks', 'text=%20%20'],
    ['only commas', 'text=,,%20,'],
    ['1,001 characters', `text=${'x'.repeat(1_001)}`],
    ['33 needles', `text=${Array.from({ length: 33 }, () => 'a').join(',')}`],
    ['20 kB of text', `text=${'x'.repeat(20_000)}`],
    ['text and hash', `text=a&hash=${'0'.repeat(64)}`],
    ['text and query', 'text=a&query=b'],
    ['hash and query', `hash=${'0'.repeat(64)}&query=b`],
    ['all three', `text=a&hash=${'0'.repeat(64)}&query=b`],
    ['text twice', 'text=a&text=b'],
    ['hash twice', `hash=${'0'.repeat(64)}&hash=${'0'.repeat(64)}`],
    ['page twice', 'text=a&page=1&page=2'],
    ['an empty hash', 'hash='],
    ['a hash that is not hex', `hash=${'x'.repeat(64)}`],
    ['a hash that is too short', `hash=${'0'.repeat(63)}`],
    ['a hash that is too long', `hash=${'0'.repeat(66)}`],
    ['page 0', 'text=a&page=0'],
    ['page -1', 'text=a&page=-1'],
    ['page 10^12', 'text=a&page=1000000000000'],
    ['page 2^31', 'text=a&page=2147483648'],
    ['page 1.5', 'text=a&page=1.5'],
    ['page x', 'text=a&page=x'],
    ['page NaN', 'text=a&page=NaN'],
    ['an empty page', 'text=a&page='],
    ['itemsPerPage 0', 'text=a&itemsPerPage=0'],
    ['itemsPerPage 1001', 'text=a&itemsPerPage=1001'],
    ['itemsPerPage -5', 'text=a&itemsPerPage=-5'],
    ['a phrase that is neither', 'text=a&phrase=maybe'],
  ])('%s', async (_name, query) => {
    const { status, body } = await search(query);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['status', 'error']);
    expect(body.status).toBe('error');
    expect(body.error).toMatch(/^.{5,200}$/u);
  });

  test.each([
    ['/indexer/metadata', ''],
    ['/indexer/metadata', 'text=,'],
    ['/indexer/metadata', 'text=a&page=0'],
    ['/indexer/inscription', ''],
    ['/indexer/inscription', 'id='],
    ['/indexer/inscription', 'id=7'],
    ['/indexer/inscription', `id=${'0'.repeat(64)}`],
    ['/indexer/inscription', `id=${'0'.repeat(64)}i4294967296`],
    ['/indexer/inscription', `id=${'0'.repeat(64)}i0&id=${'0'.repeat(64)}i1`],
    ['/indexer/nothing', ''],
  ])('%s?%s', async (path, query) => {
    const { status, body } = await search(query, path);
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'error', error: expect.any(String) as string });
  });

  test('names the parameter in our own words', async () => {
    expect((await search('text=a&page=0')).body.error).toBe('page must be >= 1');
    expect((await search('text=a&text=b')).body.error).toBe('text is given more than once');
    expect((await search('text=a&page=1&page=2')).body.error).toBe('page is given more than once');
    expect((await search('text=a&itemsPerPage=1001')).body.error).toBe('itemsPerPage must be <= 1000');
    for (const phrase of ['maybe', '', '2', 'TRUE', ' 1']) {
      expect((await search(`text=a&phrase=${phrase}`)).body.error).toBe(
        'phrase must be one of 0, 1, false, true',
      );
    }
    expect((await search(`text=a&hash=${'0'.repeat(64)}`)).body.error).toBe(
      'only one of text, hash and query can be searched at once, but the request has text and hash',
    );
  });

  test.each([
    ['null', 'null', 'the body must be an object'],
    ['a list', '[]', 'the body must be an object'],
    ['no hashes', '{}', 'the body lacks hashes'],
    ['something else beside', '{"hashes":[],"hash":1}', 'hash is not a known field: did you mean hashes?'],
    ['one hash that is not in a list', `{"hashes":"${'0'.repeat(64)}"}`, 'hashes must be a list'],
    ['a number', '{"hashes":["", 1]}', 'hashes[1] must be a text'],
    ['null as a hash', '{"hashes":[null]}', 'hashes[0] must be a text'],
  ])('describes the fault of %s', async (_name, payload, error) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await http.app.inject({ method: 'POST', url: '/search/hashes', headers, payload });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ status: 'error', error, docs: '/docs/#/search/lookUpHashes' });
  });

  test('says how a body must be sent', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await http.app.inject({
      method: 'POST',
      url: '/search/hashes',
      headers,
      payload: '{"hashes":[]}',
    });
    expect(answer.statusCode).toBe(415);
    expect(answer.json()).toEqual({
      status: 'error',
      error: 'the body must be sent with the header content-type: application/json',
      code: 'media_type_unsupported',
      docs: '/docs/#/search/lookUpHashes',
    });
  });

  test.each([
    [400, 'no body', undefined, 'application/json'],
    [400, 'broken JSON', '{"hashes":[', 'application/json'],
    [400, 'no hex', `{"hashes":["${'g'.repeat(64)}"]}`, 'application/json'],
    [400, 'a poisoned prototype', '{"hashes":[],"__proto__":{"x":1}}', 'application/json'],
    [415, 'a form', 'hashes=1', 'application/x-www-form-urlencoded'],
    [413, '2 MB', `{"hashes":["${'0'.repeat(2_000_000)}"]}`, 'application/json'],
  ])('is %i for POST /search/hashes with %s', async (status, _name, payload, contentType) => {
    const answer = await http.app.inject({
      method: 'POST',
      url: '/search/hashes',
      headers: { 'content-type': contentType },
      ...(payload === undefined ? {} : { payload }),
    });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ status: 'error', error: expect.any(String) as string });
  });
});

describe('odd URLs', () => {
  test.each([
    'text=%',
    'text=%zz',
    'text=a%ff%fe',
    'text=%u0041',
    'a=1&text=%e2%82',
    'text=%c0%80',
    'text=%ed%a0%80',
  ])('?%s is refused, not searched for literally', async (query) => {
    const error = 'text is not percent-encoded UTF-8';
    expect(await search(query)).toEqual({ status: 200, body: { status: 'error', error } });
    const status = await http.app.inject(`/status?${query}`);
    expect(status.statusCode).toBe(400);
    expect(status.json()).toEqual({ status: 'error', error });
  });

  test('an encoded percent sign is a percent sign', async () => {
    expect((await search('text=100%25')).body.totalItems).toBe(1);
    expect((await search('text=b%3Dc%26d')).body.status).toBe('ok');
  });

  test('a broken path is refused in the form of its room', async () => {
    const searched = await http.app.inject('/search/%zz');
    expect(searched.statusCode).toBe(200);
    expect(searched.json()).toEqual({ status: 'error', error: expect.any(String) as string });
    expect(searched.headers['access-control-allow-origin']).toBe('*');
    const other = await http.app.inject('/block/%zz');
    expect(other.statusCode).toBe(400);
    expect(other.json()).toEqual({ status: 'error', error: expect.any(String) as string });
  });

  test('a URL beyond its limit is refused in the form of its room', async () => {
    const long = 'x'.repeat(40_000);
    const searched = await http.app.inject(`/search?text=${long}`);
    expect(searched.statusCode).toBe(200);
    expect(searched.json()).toEqual({ status: 'error', error: 'the URL is longer than 32768 bytes' });
    expect((await http.app.inject(`/status?x=${long}`)).statusCode).toBe(414);
    const path = await http.app.inject(`/search/${'x'.repeat(5_000)}`);
    expect(path.statusCode).toBe(200);
    expect(path.json<SearchBody>().status).toBe('error');
  });

  test.each([
    '/nowhere',
    '/inscription',
    '/content',
    '/search/a/b',
    '/..%2f..%2fetc%2fpasswd',
    '/assets/../app.ts',
  ])('%s is not a redirect', async (url) => {
    const answer = await http.app.inject(url);
    expect(answer.body).not.toContain('root:');
    expect([200, 404]).toContain(answer.statusCode);
    if (answer.statusCode === 200) expect(answer.json<SearchBody>().status).toBe('error');
  });

  test.each([
    ['DELETE', '/status', 'GET, HEAD, OPTIONS'],
    ['POST', '/search', 'GET, HEAD, OPTIONS'],
    ['PUT', '/block/5', 'GET, HEAD, OPTIONS'],
    ['GET', '/missing', 'POST, OPTIONS'],
    ['HEAD', '/outputs', 'POST, OPTIONS'],
  ] as const)('%s of %s is not allowed', async (method, url, allow) => {
    const answer = await http.app.inject({ method, url, payload: method === 'PUT' ? '{' : '' });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers).toMatchObject({ allow, 'access-control-allow-origin': '*' });
    if (method === 'HEAD') return;
    expect(answer.json()).toEqual({ status: 'error', error: `${method} is not a method of this path` });
  });

  test('other methods of unknown paths are 404', async () => {
    const answer = await http.app.inject({ method: 'DELETE', url: '/nowhere' });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toEqual({ status: 'error', error: 'there is no DELETE /nowhere' });
  });

  test.each([
    ['/favicon.ico', 'image/svg+xml', '<svg'],
    ['/robots.txt', 'text/plain; charset=utf-8', 'User-agent: *'],
  ])('%s exists', async (url, type, beginning) => {
    const answer = await http.app.inject(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe(type);
    expect(answer.body.slice(0, beginning.length)).toBe(beginning);
  });

  test('a refused request stays refused, whatever copy the client has', async () => {
    const headers = { 'if-none-match': '*' };
    const answer = await http.app.inject({ url: '/search?text=a&page=0', headers });
    expect(answer.json<SearchBody>().status).toBe('error');
    const good = await http.app.inject({ url: '/search?text=a', headers });
    expect(good.statusCode).toBe(200);
  });
});

describe('a failure of ours', () => {
  const failing: SearchService = {
    textSearch: () => Promise.reject(new Error('relation "chain.secret" does not exist')),
    hashSearch: () => Promise.reject(new Error('secret')),
    facets: () => Promise.reject(new Error('secret')),
    suggest: () => Promise.reject(new Error('secret')),
    hashes: () => Promise.reject(new Error('secret')),
    inscription: () => Promise.reject(new Error('secret')),
  };

  test('is HTTP 500 without details, and is logged in full', async () => {
    const broken = await createHttpApp([], { search: failing });
    const answer = await broken.app.inject('/search?text=a');
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toEqual({ status: 'error', reason: 'internal error' });
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers.etag).toBeUndefined();
    expect(JSON.stringify(broken.logged)).toContain('chain.secret');
    await broken.close();
  });

  test('to reach the database is HTTP 503 with Retry-After, and 500 on the interface’s search paths', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED secret:5432'), { code: 'ECONNREFUSED' });
    const broken = await createHttpApp([], {
      search: { ...failing, textSearch: () => Promise.reject(refused) },
    });
    const searched = await broken.app.inject('/search?text=a');
    expect(searched.statusCode).toBe(500);
    const { readers: pool } = broken.database;
    Object.assign(pool, {
      connect: () => Promise.reject(refused),
      query: () => Promise.reject(new Error('timeout exceeded when trying to connect')),
    });
    for (const url of ['/inscription/0', '/blockheight', '/events', `/content/${'a'.repeat(64)}i0`]) {
      const answer = await broken.app.inject({ url, headers: { accept: 'application/json' } });
      expect(answer.statusCode, url).toBe(503);
      expect(answer.headers['retry-after'], url).toBe('2');
      expect(answer.body, url).toContain('the database does not answer');
      expect(answer.body, url).not.toContain('secret');
    }
    Reflect.deleteProperty(pool, 'connect');
    Reflect.deleteProperty(pool, 'query');
    await broken.close();
  });

  test('is a page for people', async () => {
    const broken = await createHttpApp([], { search: failing });
    const answer = await broken.app.inject({ url: '/?text=a', headers: { accept: 'text/html' } });
    expect(answer.statusCode).toBe(500);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.body).not.toContain('secret');
    await broken.close();
  });

  test('of the database makes it not ready', async () => {
    const broken = await createHttpApp([]);
    await broken.database.pool.query('ALTER TABLE chain.state RENAME TO gone');
    const answer = await broken.app.inject('/health/ready');
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({
      status: 'error',
      reason: 'The database lacks a table.',
      reasons: [{ code: 'database_incomplete' }],
      height: null,
    });
    expect(answer.body).not.toContain('chain.state');
    expect((await broken.app.inject('/health/live')).json()).toEqual({ status: 'ok' });
    await broken.close();
  });
});

test('a query of more than a hundred parameters is refused; a path may have any number of ampersands', async () => {
  const named = (count: number): string => Array.from({ length: count }, (_, place) => `&k${place}`).join('');
  expect((await search(`text=ab${named(99)}`)).body).toMatchObject({ status: 'ok', totalItems: 1 });
  const { body } = await search(`text=ab${named(100)}`);
  expect(body).toMatchObject({ status: 'error', error: 'the query has more than 100 parameters' });
  expect((await http.app.inject(`/search/${'&'.repeat(200)}`)).statusCode).toBe(303);
});

describe('numbers of pages', () => {
  test.each(['Infinity', '-Infinity', '1e999', '0x10', '1e1', ' 1', '1.0', '+2', 'NaN', ''])(
    'must be whole numbers in digits, not %j',
    async (page) => {
      for (const name of ['page', 'itemsPerPage']) {
        const { status, body } = await search({ text: 'a', [name]: page });
        expect({ status, body }).toMatchObject({
          status: 200,
          body: { status: 'error', error: `${name} is not a whole number` },
        });
      }
    },
  );
});
