import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '#test/support/http-app.ts';
import { createOrdersApp } from '#test/support/orders/orders-app.ts';
import { whileLocked } from '#test/support/postgres/locked-tables.ts';
import { waitUntil } from '#test/support/wait-until.ts';

type Headers = Readonly<Record<string, string>>;

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
}

interface Question {
  readonly url: string;
  readonly headers: Headers;
  /** Sent with POST. If absent, the request is a GET. */
  readonly body?: object;
}

const json = { accept: 'application/json' };
/** Number of requests at the same time. It is larger than the number of the pool's connections. */
const atOnce = 8;
/**
 * Paths that answer from memory, from files, or only from their parameters. A comment gives the reason for a refusal
 * here.
 */
const withoutDatabase = new Set([
  '/assets/0/{*}',
  '/etch',
  '/favicon.ico',
  '/files/0',
  // the rates are in a file that is not set here
  '/fxrate',
  // collections for sale have their own connections, and there are none here
  '/get-collection-json',
  '/health/live',
  '/indexer/inscription',
  '/indexer/metadata',
  '/inscribe',
  '/inscription/0/transfers',
  '/inventory',
  '/manifest.webmanifest',
  '/marketplace/data/collections/activity',
  '/marketplace/data/export',
  '/mempool/api/address/bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080/utxo',
  '/mempool/api/v1/fees/recommended',
  '/metrics',
  '/mint-rune',
  `/og/0/${idOf('a')}.jpeg`,
  '/og/site.png',
  '/openapi.json',
  '/openapi.yaml',
  // orders have their own connections, and there are none here
  '/order',
  '/order/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0',
  '/order/events',
  `/outputs/${'ab'.repeat(32)}%3A0/sats`,
  '/price',
  '/referrals',
  '/robots.txt',
  '/sat/0/satributes',
  '/satributes',
  '/satributes/0',
  '/satscanner/find-special-ranges',
  '/satscanner/supported-satributes',
  '/search',
  '/search.atom',
  '/search/facets',
  '/search/suggest',
  // watches need a key, and there are no keys here
  '/searches',
  '/searches/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0',
  '/searches/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0.atom',
  '/searches/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0/findings',
  // collections for sale have their own connections, which are not open here
  '/thumbnails/mint/0/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0.jpeg',
  // shops have their own connections, and there are none here
  '/tokenpay/checkout/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0',
  '/tokenpay/order/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0',
  '/tokenpay/reserves',
  '/tokenpay/reserves/mine',
  '/tokenpay/reserves/outputs',
  '/tokenpay/user/account/addresses',
  '/tokenpay/user/account/balance',
  '/tokenpay/user/account/withdraw/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0',
  '/tokenpay/user/withdrawal/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0',
  // watches need a key, and there are no keys here
  '/watches',
  '/watches/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0',
  '/watches/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0.atom',
  '/watches/c370ab7c16e0acfa7dd14a7115c10b3cac1a22d4c4c801fff0753dc5c7e269c1i0/findings',
  '/webhooks/keys',
]);

/** Paths with fewer reads than clients, because some of them share a read. */
const shared = new Set(['/status', '/live']);

/**
 * Settings that make one path read the state of the index alone. A real service reads this state once for all clients.
 */
const unshared = { banner: { now: () => null, tipHeight: () => null }, tipAnswers: null };

/** Values for the parameters of a path. */
const values: Readonly<Record<string, string>> = {
  address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  block: '0',
  height: '0',
  outpoint: `${'ab'.repeat(32)}:0`,
  satpoint: `${'ab'.repeat(32)}:0:0`,
  rune: 'ABC',
  hash: 'ab'.repeat(32),
  text: 'hello',
  txid: 'ab'.repeat(32),
  url: 'x',
  file: `${idOf('a')}.jpeg`,
};

async function open(options: HttpAppOptions = {}): Promise<{ http: HttpApp; address: string }> {
  const http = await createHttpApp(
    [
      { height: 0, rows: [{ name: 'a', body: 'hello' }] },
      { height: 1, rows: [{ name: 'b', body: 'hello' }] },
    ],
    { budgets: { requests: 100, requestsEach: 100 }, shared: unshared, ...options },
  );
  await noticeLeavers(http);
  const address = await http.app.listen({ port: 0, host: '127.0.0.1' });
  // At its start, the server reads the lists for no client. On a busy machine, that read waited for the lock of a test,
  // and nothing ended it.
  expect((await fetch(new URL('/collections', address))).status).toBe(200);
  await dropIdle(http);
  return { http, address };
}

/** Sets up connections of readers like the service does, so that the server notices disconnected clients. */
async function noticeLeavers({ database }: HttpApp): Promise<void> {
  await database.pool.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET client_connection_check_interval = 100', current_database()); END $$`,
  );
}

/** Closes connections that were open before, because they do not have the setting yet. */
async function dropIdle({ database }: HttpApp): Promise<void> {
  for (const pool of [database.pool, database.readers, database.accessPool]) {
    while (pool.idleCount > 0) (await pool.connect()).release(true);
  }
}

/**
 * Number of statements that wait for a lock. No role sees the state of another role's connections, but all roles see
 * the locks.
 */
async function blocked({ database }: HttpApp): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `SELECT count(DISTINCT l.pid) AS count FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE d.datname = current_database() AND NOT l.granted`,
  );
  return rows[0]?.count ?? 0;
}

async function allTables({ database }: HttpApp): Promise<string> {
  const { rows } = await database.pool.query<{ names: string }>(
    `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS names FROM pg_tables WHERE schemaname = 'chain'`,
  );
  return rows[0]?.names ?? '';
}

/** Sends all requests, and leaves when the database has their statements. Returns responses that arrived before. */
async function askAndLeave(http: HttpApp, address: string, asked: readonly Question[]): Promise<string[]> {
  const controller = new AbortController();
  const answered: string[] = [];
  const asking = asked.map(async ({ url, headers, body: sent }) => {
    const posted = sent === undefined ? {} : { method: 'POST', body: JSON.stringify(sent) };
    const init: RequestInit = { signal: controller.signal, headers, ...posted };
    const { body } = await fetch(new URL(url, address), init);
    await body?.cancel();
    answered.push(url);
  });
  const settled = Promise.allSettled(asking);
  await waitUntil(async () => {
    expect({ blocked: await blocked(http), answered }).toEqual({
      blocked: asked.length - answered.length,
      answered,
    });
  });
  controller.abort();
  await settled;
  // a statement may run for 30 s, so a statement that ends within 20 s was ended because its client left
  await waitUntil(async () => (await blocked(http)) === 0, { limitMs: 20_000 });
  return answered;
}

/** A search with a match at once, so that only the look-ups of its page take time. */
function quickSearch(): SearchService {
  const unasked = () => Promise.reject(new Error('not asked for here'));
  const facets = {
    totalItems: 2,
    types: [],
    otherTypes: 0,
    days: [1, 9].map((day) => ({ day, count: 1 })),
    tip: null,
  };
  return {
    textSearch: ({ text = '' }) =>
      Promise.resolve({
        tip: null,
        mempoolRevision: null,
        value: {
          records: [],
          totalItems: 2,
          page: 1,
          needles: [text],
          facets: text === 'hello' ? facets : null,
        },
      }),
    hashSearch: unasked,
    facets: unasked,
    suggest: unasked,
    hashes: unasked,
    inscription: unasked,
  };
}

/** One URL for each path that GET reads, in each form of its response. */
async function questions(): Promise<{ path: string; asked: Question }[]> {
  const { paths } = JSON.parse(await readFile('docs/openapi.json', 'utf8')) as Document;
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (get === undefined) return [];
    const valueOf = (name: string): string =>
      values[name] ?? (/^(?:id|inscription|parent)$/u.test(name) ? idOf('a') : '0');
    const filled = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(valueOf(name)));
    const needed = (get.parameters ?? []).filter((one) => one.in === 'query' && one.required === true);
    const query = needed.map(({ name }) => `${name}=${encodeURIComponent(valueOf(name))}`).join('&');
    const url = query === '' ? filled : `${filled}?${query}`;
    const forms: Headers[] = [json];
    const { 200: found, 304: same } = get.responses;
    if (found?.content?.['text/html'] !== undefined) forms.push({ accept: 'text/html' });
    if (same !== undefined) forms.push({ ...json, 'if-none-match': 'W/"of another tip"' });
    return forms.map((headers) => ({ path, asked: { url, headers } }));
  });
}

describe('statements for disconnected clients end on the server', () => {
  let http: HttpApp;
  let address: string;
  beforeAll(async () => {
    ({ http, address } = await open());
  });
  afterAll(() => http.close());

  test('on every path that reads the database', async () => {
    const all = await questions();
    const searches = [
      '/search?text=hello',
      '/search?hash=',
      '/search?query=',
      '/?text=hello',
      '/?hash=',
      '/?q=',
    ].map((start) => ({ url: start.endsWith('=') ? `${start}${'ab'.repeat(32)}` : start, headers: json }));
    const asked = [
      ...all.map((one) => one.asked).filter(({ url }) => !shared.has(url)),
      ...searches,
      { url: '/indexer/metadata?text=hello', headers: json },
      { url: '/marketplace/data/collections/activity?slug=frogs', headers: json },
      { url: '/marketplace/data/export?slug=frogs', headers: json },
      { url: `/og/inscription/${idOf('a')}.png`, headers: json },
      { url: '/search.atom?text=hello', headers: json },
      { url: '/search/facets?text=hello', headers: json },
      { url: '/search/suggest?text=hello', headers: json },
      { url: `/inscription/${idOf('a')}/transfers`, headers: json },
      { url: `/indexer/inscription?id=${idOf('a')}`, headers: json },
      { url: `/${'ab'.repeat(32)}`, headers: json },
    ];
    const answered: string[] = [];
    await whileLocked(http.database, await allTables(http), async () => {
      // do not send all of them in one group, because four contents are read at once
      const rounds = Math.ceil(asked.length / atOnce);
      for (let round = 0; round < rounds; round++) {
        const part = asked.filter((_, place) => place % rounds === round);
        answered.push(...(await askAndLeave(http, address, part)));
      }
    });
    expect([...new Set(answered)].sort()).toEqual([...withoutDatabase].sort());
    expect((await fetch(new URL('/blockheight', address))).status).toBe(200);
    const failures = new Set(['request failed', 'not ready, because the database does not answer']);
    expect(http.logged.filter(({ msg }) => failures.has(String(msg)))).toEqual([]);
  });

  test('on pages of events, after their first look-ups', async () => {
    await whileLocked(http.database, 'chain.state', async () => {
      const urls = ['/events', '/events?kind=inscriptions&from=1', '/events/text/0'];
      expect(
        await askAndLeave(
          http,
          address,
          urls.map((url) => ({ url, headers: {} })),
        ),
      ).toEqual([]);
    });
  });
});

// other systems have only one loopback address
test.skipIf(process.platform !== 'linux')(
  'a client that leaves all its requests at once causes no statements, and others are served as usual',
  async () => {
    const { http, address } = await open();
    const connecting = vi.spyOn(http.database.readers, 'connect');
    const { port } = new URL(address);
    const paths = [
      '/events',
      '/inscriptions?limit=100',
      '/search?text=hello',
      '/blocks',
      '/collections',
      '/openapi.json',
    ];
    /** Sends a request, and leaves some milliseconds later. */
    const leave = async (path: string, localAddress = '127.0.0.2'): Promise<void> => {
      const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
      await delay(2);
      socket.resetAndDestroy();
    };
    const round = async (): Promise<void> => {
      for (const path of paths) await leave(path);
    };
    for (let rounds = 0; rounds < 4; rounds++) await round();
    await waitUntil(async () => http.database.readers.idleCount === http.database.readers.totalCount);
    connecting.mockClear();
    for (let rounds = 0; rounds < 5; rounds++) await round();
    expect(connecting.mock.calls.length).toBeLessThan(3);
    const { status } = await fetch(new URL('/blockheight', address));
    expect(status).toBe(200);
    connecting.mockRestore();
    await http.close();
  },
);

test('statements of a page of results end, also those after its search', async () => {
  const { http, address } = await open({ search: quickSearch() });
  await whileLocked(http.database, await allTables(http), async () => {
    const urls = ['/?text=hello', '/?text=5'];
    const headers = { accept: 'text/html' };
    expect(
      await askAndLeave(
        http,
        address,
        urls.map((url) => ({ url, headers })),
      ),
    ).toEqual([]);
  });
  await http.close();
});

test('reads of orders end on their own connections, and so do the reads before an order is made', async () => {
  const orders = await createOrdersApp();
  await noticeLeavers(orders);
  await dropIdle(orders);
  const address = await orders.app.listen({ port: 0, host: '127.0.0.1' });
  const id = randomUUID();
  const receiveAddress = values['address'];
  const order = {
    files: [{ name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' }],
    receiveAddress,
    fee: 5,
  };
  const sent = { 'content-type': 'application/json' };
  const tables = 'service.orders, service.referrals, service.node_policy, service.order_files';
  await whileLocked(orders.database, tables, async () => {
    // there are only two connections for orders, and creations at the same time would share their reads
    const groups: Question[][] = [
      [
        { url: `/order?id=${id}`, headers: json },
        { url: `/order/${id}`, headers: json },
      ],
      [
        { url: `/order/events?id=${id}`, headers: json },
        { url: `/files/${id}_a.txt`, headers: json },
      ],
      [
        { url: `/referrals?referral=frogs&address=${receiveAddress}`, headers: json },
        { url: '/price?plan=1', headers: sent, body: { order, type: 'direct' } },
      ],
      [{ url: '/inscribe', headers: sent, body: order }],
      [{ url: '/inscribe', headers: { ...sent, 'idempotency-key': id }, body: order }],
    ];
    for (const asked of groups) expect(await askAndLeave(orders, address, asked)).toEqual([]);
  });
  // the key of a failed request is free again
  const keyed = { 'idempotency-key': id };
  await waitUntil(async () => (await orders.post('/inscribe', order, keyed)).status === 200);
  const { rows } = await orders.database.pool.query('SELECT FROM service.orders');
  expect(rows).toHaveLength(1);
  await orders.close();
});
