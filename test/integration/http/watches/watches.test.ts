import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { findingId } from '#watches/watch.ts';

type Json = Readonly<Record<string, unknown>>;
interface WatchJson extends Json {
  readonly id: string;
  readonly feedUrl: string;
}

/** More inscriptions than any search may match. Few of them are images. */
const rows = Array.from({ length: 1_020 }, (_, place) => ({
  name: `row ${place}`,
  body: `common text ${place}`,
  type: place % 300 === 0 ? 'image/png' : 'text/plain',
}));

const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

let http: HttpApp;
let given: TestAccess;
let key: string;
let other: string;

beforeAll(async () => {
  http = await createHttpApp([{ height: 0, rows }], {
    access: ({ accessPool }) => {
      given = testAccess(accessPool, { mode: 'open' });
      return given.access;
    },
  });
  await http.database.pool.query(
    "INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('sales', 0, true), ('runes', 0, true)",
  );
  key = (await giveKey(http.database.pool, { rate: '0' })).key;
  other = (await giveKey(http.database.pool, { rate: '0' })).key;
}, 60_000);
afterAll(async () => {
  await given.close();
  await http.close();
});

async function ask<Body = Json>(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  { as = key, body }: { as?: string | null; body?: object } = {},
): Promise<{ status: number; body: Body; headers: Json }> {
  const answer = await http.app.inject({
    method,
    url,
    headers: as === null ? {} : { 'x-api-key': as },
    ...(body === undefined ? {} : { payload: body }),
  });
  return { status: answer.statusCode, body: answer.json<Body>(), headers: answer.headers };
}

async function saved(body: object = { text: 'brc-20,mint' }): Promise<WatchJson> {
  const answer = await ask<{ search: WatchJson }>('POST', '/searches', { body });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.search;
}

describe('a saved search', () => {
  test('is created, read, listed and deleted by its own key alone', async () => {
    const search = await saved({ text: 'brc-20,mint', contentType: 'text/*', cursed: false });
    expect(search).toMatchObject({
      kind: 'search',
      condition: { text: 'brc-20,mint', contentType: 'text/*', cursed: false },
      webhookUrl: null,
      active: true,
      endReason: null,
      found: 0,
      lastNumber: 0,
    });
    const path = `/searches/${search.id}`;
    expect(await ask('GET', path)).toMatchObject({ status: 200, body: { status: 'ok', search } });
    expect(await ask('GET', `/watches/${search.id}`)).toMatchObject({ body: { watch: search } });
    const listed = await ask<{ searches: WatchJson[] }>('GET', '/searches');
    expect(listed.body.searches).toContainEqual(search);
    expect((await ask<{ searches: WatchJson[] }>('GET', '/searches', { as: other })).body.searches).toEqual(
      [],
    );
    const refusals = await Promise.all(
      [
        [path, other],
        [`/searches/${'0'.repeat(8)}-0000-4000-8000-000000000000`, key],
        ['/searches/no-id', key],
      ].flatMap(([url = '', as = '']) => [
        ask('GET', url, { as }),
        ask('DELETE', url, { as }),
        ask('GET', `${url}/findings`, { as }),
      ]),
    );
    const messages = refusals.map(({ status, body }) => [status, body['code'], body['error']]);
    expect(messages).toEqual(refusals.map(() => [404, 'not_found', 'this key has no search with this id']));
    expect(await ask('DELETE', path)).toMatchObject({ status: 200, body: { search: { active: false } } });
    expect(await ask('GET', path)).toMatchObject({ status: 404 });
    expect(await ask('DELETE', path)).toMatchObject({ status: 404 });
  });

  test('has a secret only with a webhook, and only when it is created', async () => {
    const plain = await ask('POST', '/searches', { body: { text: 'without a webhook' } });
    expect(plain.body).not.toHaveProperty('webhookSecret');
    const body = { metadata: 'with a webhook', webhookUrl: 'https://shop.example/hooks?token=1' };
    const { body: made } = await ask<{ search: WatchJson; webhookSecret: string }>('POST', '/searches', {
      body,
    });
    expect(made.webhookSecret).toMatch(/^[0-9a-f]{64}$/u);
    expect(made.search).toMatchObject({ webhookUrl: body.webhookUrl });
    const read = await ask('GET', `/searches/${made.search.id}`);
    expect(JSON.stringify(read.body)).not.toContain(made.webhookSecret);
  });

  test.each([
    [{}, 'request_invalid', 'text'],
    [{ cursed: true }, 'request_invalid', 'text'],
    [[], 'request_invalid', undefined],
    [{ text: 'a' }, 'request_invalid', 'text'],
    [{ metadata: 'brc-20,é' }, 'request_invalid', 'metadata'],
    [{ text: 'x'.repeat(65_536) }, 'request_invalid', 'text'],
    [{ text: 'x'.repeat(1_001) }, 'request_invalid', 'text'],
    [{ text: 7 }, 'request_invalid', 'text'],
    [{ text: ['brc-20'] }, 'request_invalid', 'text'],
    [{ text: 'brc-20', metadata: 'brc-20' }, 'request_invalid', 'metadata'],
    [{ text: 'brc-20', hash: 'ab'.repeat(32) }, 'request_invalid', 'hash'],
    [{ hash: 'ab'.repeat(31) }, 'request_invalid', 'hash'],
    [{ text: 'brc-20', fuzzy: true }, 'request_invalid', 'fuzzy'],
    [{ text: 'brc-20', from: 1 }, 'request_invalid', 'from'],
    [{ text: 'brc-20', txt: 'a' }, 'request_invalid', 'txt'],
    [{ text: 'brc-20', words: 'perhaps' }, 'request_invalid', 'words'],
    [{ text: 'brc-20', words: true, phrase: true }, 'request_invalid', 'phrase'],
    [{ text: 'brc-20', contentType: '*/png' }, 'request_invalid', 'contentType'],
    [{ text: 'brc-20', parent: 'none' }, 'request_invalid', 'parent'],
    [{ text: 'brc-20', trait: 'no colon' }, 'request_invalid', 'trait'],
    [{ text: 'brc-20', webhookUrl: 'http://127.0.0.1/hook' }, 'request_invalid', 'webhookUrl'],
    [{ text: 'brc-20', webhookUrl: 'http://[::ffff:10.0.0.1]/' }, 'request_invalid', 'webhookUrl'],
    [{ text: 'brc-20', webhookUrl: 'https://user@shop.example/' }, 'request_invalid', 'webhookUrl'],
    [{ text: 'brc-20', webhookUrl: 'ftp://shop.example/' }, 'request_invalid', 'webhookUrl'],
    [{ text: 'brc-20', webhookUrl: 5 }, 'request_invalid', 'webhookUrl'],
    [{ text: 'common' }, 'watch_too_broad', undefined],
    [{ text: 'common', words: true }, 'watch_too_broad', undefined],
    [{ contentType: 'text/*' }, 'watch_too_broad', undefined],
  ])('that is wrong is refused: %j', async (body, code, parameter) => {
    const answer = await ask('POST', '/searches', { body });
    expect(answer).toMatchObject({ status: 400, body: { status: 'error', code } });
    expect(answer.body['parameter']).toBe(parameter);
    expect(String(answer.body['error']).length).toBeLessThan(400);
  });

  test('that matches nearly everything is refused with the count, and one filter can make it narrow', async () => {
    const { body } = await ask('POST', '/searches', { body: { text: 'common' } });
    expect(body['error']).toMatch(
      /^this search matches 1016 of the 1020 inscriptions of the last 1008 blocks, but at most 1000 are allowed/u,
    );
    await saved({ text: 'common', contentType: 'image/*' });
    await saved({ contentType: 'image/png' });
  });
});

test('a watch is refused without a key with the scope of searches, even if searches are open', async () => {
  const { key: orders } = await giveKey(http.database.pool, { scopes: ['orders'] });
  const paths = [
    ['POST', '/searches'],
    ['GET', '/searches'],
    ['GET', '/searches/a'],
    ['DELETE', '/searches/a'],
    ['GET', '/searches/a/findings'],
    ['POST', '/watches'],
    ['GET', '/watches'],
    ['DELETE', '/watches/a'],
  ] as const;
  for (const [method, url] of paths) {
    const body = method === 'POST' ? { body: { text: 'brc-20' } } : {};
    expect([url, (await ask(method, url, { as: null, ...body })).status]).toEqual([url, 401]);
    expect([url, (await ask(method, url, { as: `${key}0`, ...body })).status]).toEqual([url, 401]);
    expect([url, (await ask(method, url, { as: orders, ...body })).status]).toEqual([url, 403]);
  }
  const claims = [{ cookie: `satscribe_key=${key}` }, { 'sec-fetch-site': 'same-origin' }];
  for (const headers of claims) {
    const answer = await http.app.inject({ url: '/searches', headers });
    expect([headers, answer.statusCode]).toEqual([headers, 401]);
  }
});

test('forms of other sites neither save nor delete a watch', async () => {
  const { id } = await saved();
  const send = async (url: string, payload: string, headers: Record<string, string>): Promise<number> => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', cookie: `satscribe_key=${key}` };
    return (await http.app.inject({ method: 'POST', url, payload, headers: { ...form, ...headers } }))
      .statusCode;
  };
  const before = (await ask<{ watches: WatchJson[] }>('GET', '/watches')).body.watches;
  for (const site of ['cross-site', 'same-site']) {
    const headers = { 'sec-fetch-site': site };
    expect(await send('/watches/new', 'kind=search&text=foreign', headers)).toBe(403);
    expect(await send('/watches/delete', `id=${id}`, headers)).toBe(403);
  }
  expect((await ask<{ watches: WatchJson[] }>('GET', '/watches')).body.watches).toEqual(before);
  const own = { 'sec-fetch-site': 'same-origin' };
  expect(await send('/watches/new', 'kind=search&text=of+this+site', own)).toBe(303);
  expect(await send('/watches/delete', `id=${id}`, { ...own, cookie: `satscribe_key=${other}` })).toBe(404);
  expect(await send('/watches/delete', `id=${id}`, own)).toBe(303);
  expect(await ask('GET', `/searches/${id}`)).toMatchObject({ status: 404 });
});

test('a form that is sent again saves no second watch, and has the same answer for its own key alone', async () => {
  const { key: mine } = await giveKey(http.database.pool, { rate: '0' });
  const { key: another } = await giveKey(http.database.pool, { rate: '0' });
  const send = async (as: string, payload: string): Promise<string> => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie: `satscribe_key=${as}` };
    const answer = await http.app.inject({ method: 'POST', url: '/watches/new', payload, headers });
    return /<code class="wrap">[0-9a-f]{64}<\/code>/u.exec(answer.body)?.[0] ?? String(answer.statusCode);
  };
  const count = async (): Promise<number> =>
    (await ask<{ watches: WatchJson[] }>('GET', '/watches', { as: mine })).body.watches.length;
  const form = `kind=search&text=twice&webhookUrl=https://shop.example/a&form=${'0'.repeat(32)}`;
  const [first, again] = await Promise.all([send(mine, form), send(mine, form)]);
  expect(first).toContain('code');
  expect([again, await count()]).toEqual([first, 1]);
  const changed = await send(mine, form.replace('example/a', 'example/b'));
  const ofOther = await send(another, form);
  const unnamed = await send(mine, form.slice(0, form.indexOf('&form')));
  expect(new Set([first, changed, ofOther, unnamed]).size).toBe(4);
  expect(await count()).toBe(3);
  expect(await send(mine, `${form}0`)).toBe('400');
});

test('the form of receipts says whether it finds sats, and that only blocks tell them', async () => {
  const { pool } = http.database;
  const form = async (): Promise<string> => {
    const headers = { accept: 'text/html', cookie: `satscribe_key=${key}` };
    return (await http.app.inject({ url: `/watches/new?kind=receipts&address=${address}`, headers })).body;
  };
  expect(await form()).toContain('Receipts of sats are not found');
  await pool.query(
    "INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('outputs', 0, true)",
  );
  try {
    expect(await form()).toContain('Receipts of sats are told only when a block has them');
  } finally {
    await pool.query("DELETE FROM chain.derived_tables WHERE name = 'outputs'");
  }
});

test('a key has at most 100 watches of all kinds, and the refusal has the count', async () => {
  const { key: full } = await giveKey(http.database.pool, { rate: '0' });
  for (let made = 0; made < 50; made++) {
    await ask('POST', '/searches', { as: full, body: { text: `search ${made}` } });
    await ask('POST', '/watches', { as: full, body: { kind: 'runes', event: 'etched' } });
  }
  for (const url of ['/searches', '/watches']) {
    const body = url === '/searches' ? { text: 'one more' } : { kind: 'children', parent: idOf('a') };
    const answer = await ask('POST', url, { as: full, body });
    expect(answer).toMatchObject({ status: 409, body: { code: 'watches_max' } });
    expect(answer.body['error']).toContain('100 active watches');
  }
  const { body } = await ask<{ watches: WatchJson[] }>('GET', '/watches', { as: full });
  expect(body.watches).toHaveLength(100);
  await ask('DELETE', `/watches/${body.watches[0]?.id}`, { as: full });
  expect(await ask('POST', '/searches', { as: full, body: { text: 'one more' } })).toMatchObject({
    status: 200,
  });
}, 60_000);

describe('a watch of another kind', () => {
  test.each([
    { kind: 'sales', address, minPrice: 1_000, maxPrice: 2_000 },
    { kind: 'sales', minPrice: 1_000_000 },
    { kind: 'children', parent: idOf('row 1') },
    { kind: 'runes', event: 'etched' },
    { kind: 'runes', event: 'minted-out', rune: 'SATSCRIBE•DEMO•COIN' },
    { kind: 'receipts', address },
  ])('is created with its condition: %j', async (body) => {
    const { kind, ...condition } = body;
    const answer = await ask<{ watch: WatchJson }>('POST', '/watches', { body });
    expect(answer).toMatchObject({ status: 200, body: { watch: { kind, condition } } });
    const { id } = answer.body.watch;
    expect(await ask('GET', `/watches/${id}`)).toMatchObject({ status: 200 });
    // saved searches have their own paths
    expect(await ask('GET', `/searches/${id}`)).toMatchObject({ status: 404 });
    expect(await ask('DELETE', `/searches/${id}`)).toMatchObject({ status: 404 });
  });

  test.each([
    [{}, 400, 'kind'],
    [{ kind: 'search', text: 'brc-20' }, 400, 'kind'],
    [{ kind: 'children', parent: idOf('a'), text: 'brc-20' }, 400, 'text'],
    [{ kind: 'search' }, 400, 'kind'],
    [{ kind: 'sales' }, 400, 'collection'],
    [{ kind: 'sales', collection: 'no-such-collection' }, 404, 'collection'],
    [{ kind: 'sales', collection: '../etc' }, 400, 'collection'],
    [{ kind: 'sales', minPrice: -1 }, 400, 'minPrice'],
    [{ kind: 'sales', minPrice: 1.5 }, 400, 'minPrice'],
    [{ kind: 'sales', minPrice: 0 }, 400, 'collection'],
    [{ kind: 'sales', minPrice: 10, maxPrice: 5 }, 400, 'minPrice'],
    [{ kind: 'sales', address: 'nowhere' }, 400, 'address'],
    [{ kind: 'sales', minPrice: 1, rune: 'DOG' }, 400, 'rune'],
    [{ kind: 'children' }, 400, 'parent'],
    [{ kind: 'children', parent: 'x' }, 400, 'parent'],
    [{ kind: 'runes' }, 400, 'event'],
    [{ kind: 'runes', event: 'burned' }, 400, 'event'],
    [{ kind: 'runes', event: 'etched', rune: 'not a rune' }, 400, 'rune'],
    [{ kind: 'receipts' }, 400, 'address'],
    [{ kind: 'receipts', address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' }, 400, 'address'],
    [{ kind: 'receipts', address, webhookUrl: 'http://10.0.0.1/' }, 400, 'webhookUrl'],
  ])('that is wrong is refused: %j', async (body, status, parameter) => {
    const answer = await ask('POST', '/watches', { body });
    expect([answer.status, answer.body['parameter']]).toEqual([status, parameter]);
  });
});

describe('findings', () => {
  const thing = idOf('row 1');
  /** Stores a finding as the process that follows the chain does. */
  const found = (watch: string, name: string, number: number, facts: object = {}): Promise<unknown> =>
    http.database.pool.query(
      `WITH finding AS (
         INSERT INTO service.watch_findings (watch_id, thing, state, number, txid, facts)
         VALUES ($1, $2, 'pending', $3, $4, $5))
       UPDATE service.watches SET last_number = $3, found = found + 1 WHERE id = $1`,
      [watch, name, number, Buffer.alloc(32, number), JSON.stringify(facts)],
    );

  test('are read with a cursor, in the order of their numbers', async () => {
    const { id } = await saved();
    const path = `/searches/${id}/findings`;
    expect((await ask('GET', path)).body).toEqual({ status: 'ok', findings: [], lastNumber: 0, more: false });
    for (let number = 1; number <= 5; number++) await found(id, `${thing}${number}`, number);
    const first = await ask<{ findings: Json[] }>('GET', `${path}?limit=2`);
    expect(first.body).toMatchObject({ lastNumber: 5, more: true });
    expect(first.body.findings.map(({ number }) => number)).toEqual([1, 2]);
    expect(first.body.findings[0]).toMatchObject({
      id: findingId(id, `${thing}1`),
      state: 'pending',
      txid: '01'.repeat(32),
      height: null,
      blockHash: null,
      replacedBy: null,
    });
    const rest = await ask<{ findings: Json[] }>('GET', `${path}?after=2`);
    expect(rest.body).toMatchObject({ lastNumber: 5, more: false });
    expect(rest.body.findings.map(({ number }) => number)).toEqual([3, 4, 5]);
    expect((await ask('GET', `${path}?after=5`)).body).toMatchObject({ findings: [], more: false });
  });

  test('are waited for, and an answer without findings comes in the end', async () => {
    const { id } = await saved();
    const path = `/searches/${id}/findings`;
    expect((await ask('GET', `${path}?wait=1`)).body).toMatchObject({ findings: [], lastNumber: 0 });
    const waiting = ask('GET', `${path}?wait=25`);
    await waitUntil(async () => {
      const { body } = await http.app.inject({ url: '/metrics' });
      return body.includes('satscribe_queue_length{queue="waits for findings"} 1');
    });
    await found(id, thing, 1);
    await http.database.pool.query(`SELECT pg_notify('satscribe_findings', '')`);
    expect((await waiting).body).toMatchObject({ findings: [{ number: 1 }], lastNumber: 1 });
    expect((await ask('GET', `${path}?wait=25`)).body).toMatchObject({ findings: [{ number: 1 }] });
  });

  test.each(['wait=26', 'wait=-1', 'after=-1', 'after=x', 'after=1e3', 'limit=0', 'limit=1001', 'before=1'])(
    'are refused for %s',
    async (query) => {
      const { id } = await saved();
      expect(await ask('GET', `/watches/${id}/findings?${query}`)).toMatchObject({ status: 400 });
    },
  );

  test('have a feed that its token opens without a key', async () => {
    const { id, feedUrl } = await saved();
    await found(id, thing, 1);
    const { pathname, search } = new URL(feedUrl);
    const feed = await http.app.inject({ url: `${pathname}${search}` });
    expect([feed.statusCode, feed.headers['content-type']]).toEqual([
      200,
      'application/atom+xml; charset=utf-8',
    ]);
    expect(feed.body).toContain(`<title>${thing}: in the mempool</title>`);
    expect(feed.body).toContain('<title>Contents with “brc-20” and “mint”</title>');
    expect(feed.body).toContain(findingId(id, thing));
    const again = await http.app.inject({
      url: `${pathname}${search}`,
      headers: { 'if-none-match': String(feed.headers.etag) },
    });
    expect(again.statusCode).toBe(304);
    const other = await saved();
    const wrong = [
      pathname,
      `${pathname}?token=`,
      `${pathname}?token=${'0'.repeat(32)}`,
      `/searches/x.atom${search}`,
    ];
    for (const url of [...wrong, `${new URL(other.feedUrl).pathname}${search}`])
      expect((await http.app.inject({ url })).statusCode).toBe(404);
    await ask('DELETE', `/searches/${id}`);
    expect((await http.app.inject({ url: `${pathname}${search}` })).statusCode).toBe(404);
  });

  test.each([
    ['sales', { minPrice: 1 }, { inscriptionId: thing, input: 0, price: 70_000 }, `${thing} for 70,000 sats`],
    ['receipts', { address }, { vout: 1, inscriptionId: thing }, `received the inscription ${thing}`],
    [
      'receipts',
      { address },
      { vout: 1, runeId: '840000:3', amount: '12300' },
      'received 12,300 base units of the rune 840000:3',
    ],
    ['receipts', { address }, { vout: 1, sats: '546' }, 'received 546 sats'],
  ])('of %s %j say in feeds and on the page what they are: %j', async (kind, condition, facts, words) => {
    const { key: mine } = await giveKey(http.database.pool, { rate: '0' });
    const { body } = await ask<{ watch: WatchJson }>('POST', '/watches', {
      as: mine,
      body: { kind, ...condition },
    });
    await found(body.watch.id, `${'01'.repeat(32)}:1 x`, 1, facts);
    const { pathname, search } = new URL(body.watch.feedUrl);
    expect((await http.app.inject({ url: `${pathname}${search}` })).body).toContain(
      `${words}: in the mempool</title>`,
    );
    const headers = { accept: 'text/html', cookie: `satscribe_key=${mine}` };
    const page = await http.app.inject({ url: '/watches', headers });
    expect(page.body.replace(/<[^>]+>/gu, '')).toContain(`${words} in the mempool`);
  });

  test('of a feed that fails leave no token in the log', async () => {
    const { feedUrl } = await saved();
    const { pathname, search } = new URL(feedUrl);
    await http.database.pool.query('ALTER TABLE service.watch_findings RENAME TO away');
    try {
      expect((await http.app.inject({ url: `${pathname}${search}` })).statusCode).toBeGreaterThanOrEqual(500);
    } finally {
      await http.database.pool.query('ALTER TABLE service.away RENAME TO watch_findings');
    }
    expect(http.logged.at(-1)).toMatchObject({ msg: 'request failed', url: `${pathname}?***` });
    expect(JSON.stringify(http.logged)).not.toContain(search.slice('?token='.length));
  });
});
