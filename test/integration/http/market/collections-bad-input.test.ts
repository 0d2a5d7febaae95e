import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { importItems } from '#test/support/market/market-app.ts';

const unknownId = `${'ab'.repeat(32)}i0`;
let http: HttpApp;

beforeAll(async () => {
  http = await createHttpApp([
    { height: 5, rows: [{ name: 'frog', body: 'a frog' }] },
    { height: 6, rows: [] },
    { height: 8, rows: [], anchored: false },
  ]);
  await importItems(http.database, { slug: 'frogs' }, [
    [idOf('frog'), null],
    [unknownId, null],
  ]);
});
afterAll(() => http.close());

async function get(url: string): Promise<{ status: number; body: unknown }> {
  const answer = await http.app.inject(`/marketplace/data/collections${url}`);
  return { status: answer.statusCode, body: answer.json<unknown>() };
}

describe('bad input', () => {
  const fault = (param: string, msg: string, location = 'query') => ({
    msg: `${param} ${msg}`,
    param,
    location,
  });
  test.each([
    [`/${'a'.repeat(300)}/stats`, [fault('slug', 'has more than 100 characters', 'params')]],
    [
      `/${'a'.repeat(300)}/holders?at=-1&page=x&limit=19`,
      [
        fault('slug', 'has more than 100 characters', 'params'),
        fault('at', 'must be >= 0'),
        fault('page', 'is not a whole number'),
        fault('limit', 'must be >= 20'),
      ],
    ],
    ['/frogs/holders?at=1e3', [fault('at', 'is not a whole number')]],
    ['/frogs/holders?at=1&at=2', [fault('at', 'is given more than once')]],
    ['/frogs/holders?at=99999999999', [fault('at', 'must be <= 2147483647')]],
    [
      '/frogs/items?after=frog&limit=101',
      [fault('after', 'is not an inscription id'), fault('limit', 'must be <= 100')],
    ],
    ['/of/frog', [fault('inscription', 'is not an inscription id', 'params')]],
    [
      `?q=${'a'.repeat(101)}&sort=price&page=-1&limit=0`,
      [
        fault('q', 'has more than 100 characters'),
        fault('sort', 'must be one of volume, slug'),
        fault('page', 'must be >= 0'),
        fault('limit', 'must be >= 20'),
      ],
    ],
    ['?q=a&q=b', [fault('q', 'is given more than once')]],
    ['/frogs/stats?slug=toads', [fault('slug', 'is not a parameter of this path: it has none')]],
    ['/frogs/holders?height=5', [fault('height', 'is not a parameter of this path: it has at, page, limit')]],
  ])('%j has all its faults in one answer', async (url, errors) => {
    expect(await get(url)).toEqual({ status: 400, body: { errors, code: expect.any(String) as string } });
  });

  test.each([
    'none',
    '..%2F',
    '%00',
    'a%00b',
    'FROGS',
    '%F0%9F%90%B8',
    '%3Cimg%3E',
    '%E2%80%AEgorf',
    unknownId,
  ])('the slug %j names no collection', async (slug) => {
    for (const part of ['stats', 'holders', 'items'])
      expect(await get(`/${slug}/${part}`)).toEqual({
        status: 404,
        body: {
          errors: [{ msg: 'no collection has this slug', param: 'slug', location: 'params' }],
          code: 'collection_unknown',
        },
      });
  });

  test('the path of a collection alone names the paths below it', async () => {
    const { status, body } = await get('/frogs');
    expect([status, body]).toMatchObject([404, { code: 'not_found' }]);
    expect(JSON.stringify(body)).toContain('/stats, /items or /holders');
  });

  test('the page of an unknown slug has the code too, and ignores foreign parameters', async () => {
    const answer = await http.app.inject('/collection/none?utm_source=x');
    expect([answer.statusCode, answer.json()]).toMatchObject([
      404,
      { code: 'collection_unknown', parameter: 'slug' },
    ]);
    expect((await http.app.inject('/collection/frogs?utm_source=x')).statusCode).toBe(200);
  });

  test.each([
    ['before the first block', 4, 404, 'the block at height 4 is not indexed'],
    ['between two blocks', 7, 404, 'the block at height 7 is not indexed'],
    ['after the last block', 9, 400, 'at is above the last block, 8'],
  ])('a height %s has no holders', async (_where, at, status, msg) => {
    expect(await get(`/frogs/holders?at=${at}`)).toEqual({
      status,
      body: { errors: [{ msg, param: 'at', location: 'query' }], code: expect.any(String) as string },
    });
    expect((await get('/frogs/holders?at=8')).status).toBe(200);
  });

  test('holders of a chain with gaps are not proven', async () => {
    expect((await get('/frogs/holders')).body).toMatchObject({ height: 8, proven: false });
  });
});

test('a server that indexes no sales says so, and knows holders and items', async () => {
  const { body } = await get('/frogs/stats');
  expect(body).toMatchObject({ sales: null, items: { listed: 2, indexed: 1 } });
  expect((await get('?q=frogs')).body).toMatchObject({ collections: [{ slug: 'frogs', week: null }] });
  expect((await get('/frogs/items')).body).toMatchObject({ items: [{ lastSale: null }, { indexed: false }] });
});

test('before the first block nothing is known', async () => {
  const empty = await createHttpApp([]);
  for (const [url, status] of [
    ['', 200],
    ['/frogs/stats', 404],
    ['/frogs/holders', 404],
    ['/frogs/items', 404],
  ] as const) {
    const answer = await empty.app.inject(`/marketplace/data/collections${url}`);
    expect([url, answer.statusCode]).toEqual([url, status]);
  }
  await empty.close();
});
