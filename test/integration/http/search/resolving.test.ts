import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallOptions } from '#kernel/contracts/node.ts';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { pendingRows, setPending } from '#test/support/chain/rows/pending-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { importItems } from '#test/support/market/market-app.ts';
import { testTxid, text } from '#test/support/search/search-rows.ts';

const html = { accept: 'text/html,*/*;q=0.8' };
const hostile = '<img src=x onerror=alert(1)>\u202e & "frogs"';

let http: HttpApp;
/** A fault of the node, or a call that hangs. `null` if the node does not have the transaction. */
let nodeFails: ((signal?: AbortSignal) => Promise<never>) | null = null;
let asked: string[] = [];

beforeAll(async () => {
  http = await createHttpApp(
    [
      {
        height: 5,
        rows: [
          { name: 'frog', body: 'one frog' },
          { name: 'pepe', type: 'image/png', body: 'x' },
        ],
      },
    ],
    {
      sources: {
        node: {
          url: 'http://127.0.0.1:1',
          call: <Result>(method: string, _: unknown, { signal }: CallOptions = {}): Promise<Result> => {
            asked.push(method);
            if (nodeFails !== null) return nodeFails(signal);
            return Promise.reject(new AppError('node_call_failed', 'no such transaction', { rpcCode: -5 }));
          },
        },
      },
    },
  );
  await importItems(http.database, { slug: 'frogs', name: 'Bitcoin Frogs', icon: null }, [
    [idOf('frog'), null],
  ]);
  await importItems(http.database, { slug: 'hostile', name: hostile }, [[idOf('pepe'), null]]);
  for (const nth of [1, 2, 3, 4, 5])
    await importItems(http.database, { slug: `many-${nth}`, name: `Many ${nth}` }, [[idOf('pepe'), null]]);
  await setPending(http.database.pool, [
    pendingRows(testTxid(1), 1, { content: text('a frog that waits'), metadata: null }),
  ]);
});
afterAll(() => http.close());

const get = async (url: string) => http.app.inject({ url, headers: html });
const cardsOf = async (typed: string): Promise<string[]> => {
  const { statusCode, body } = await get(`/?text=${encodeURIComponent(typed)}`);
  expect([typed, statusCode]).toEqual([typed, 200]);
  return [...body.matchAll(/<li class="meaning"><a href="([^"]*)">/gu)].map((match) => match[1]!);
};
const namesOf = async (typed: string): Promise<unknown> =>
  (await get(`/search/suggest?text=${encodeURIComponent(typed)}`)).json<{ names: unknown }>().names;
const targetOf = async (typed: string): Promise<string | undefined> =>
  (await get(`/?q=${encodeURIComponent(typed)}`)).headers.location;

const pendingTxid = Buffer.from(testTxid(1)).reverse().toString('hex');

describe('what a text names', () => {
  test('nothing, and the page says what was looked for', async () => {
    expect((await get('/?text=7:1')).body).toContain(
      '<p class="hint">No rune with this id is known here.</p>',
    );
    expect((await get('/?text=frogs')).body).not.toContain('is known here');
  });

  test('collections by name, slug and beginning, in any case, whole names first and at most three', async () => {
    for (const typed of ['frogs', 'Bitcoin Frogs', 'BITCOIN FR', ' frogs '])
      expect(await cardsOf(typed)).toContain('/collection/frogs');
    expect(await namesOf('bitcoin frogs')).toEqual([
      { kind: 'collection', name: 'Bitcoin Frogs', path: '/collection/frogs' },
    ]);
    expect(await cardsOf('many')).toEqual([
      '/collection/many-1',
      '/collection/many-2',
      '/collection/many-3',
      '/sat/2099999997460447',
    ]);
    expect((await cardsOf('Many 4'))[0]).toBe('/collection/many-4');
    expect(await cardsOf('M')).toEqual([]);
  });

  test('satributes by id, title and other spellings', async () => {
    for (const typed of ['pizza', 'Pizza', 'PIZZA'])
      expect(await cardsOf(typed)).toContain('/satributes/pizza');
    for (const typed of ['block9_450x', 'block9450x', 'Block 9 450x'])
      expect(await cardsOf(typed)).toContain('/satributes/block9_450x');
  });

  test('pending inscriptions and transactions, and pending texts among the results', async () => {
    expect(await targetOf(pendingTxid)).toBe(`/tx/${pendingTxid}`);
    expect(await namesOf(`${pendingTxid}i0`)).toMatchObject([
      { kind: 'inscription', path: `/inscription/${pendingTxid}i0` },
    ]);
    expect(await namesOf(pendingTxid)).toMatchObject([{ kind: 'transaction' }]);
    const { body } = await get('/?text=frog+that+waits');
    expect(body).toContain('1 inscription whose content contains');
    expect(body).toMatch(new RegExp(`href="/inscription/${pendingTxid}i0"[^]*<span>pending</span>`, 'u'));
    const hash = text('a frog that waits').body;
    const digest = (await import('node:crypto')).createHash('sha256').update(hash).digest('hex');
    expect((await get(`/?hash=${digest}`)).body).toContain(
      'In no block yet: 1 pending inscription would have this content',
    );
  });

  test('an inscription with its picture, and a block with its figures', async () => {
    const { body } = await get('/?text=1');
    expect(body).toMatch(
      new RegExp(
        `<li class="meaning"><a href="/inscription/${idOf('pepe')}">[^]*?<img class="thumbnail" src="/thumbnails/${idOf('pepe')}.webp"`,
        'u',
      ),
    );
    expect(await cardsOf('5')).toEqual(['/block/5', '/sat/5']);
  });

  test('only a text for a hostile text or name', async () => {
    const { body } = await get(`/?text=${encodeURIComponent(hostile)}`);
    expect(body).toContain('<li class="meaning"><a href="/collection/hostile">');
    expect(body).not.toContain('<img src=x');
    for (const typed of [
      '\0',
      '\ud800',
      '%',
      '_',
      "'; DROP TABLE x",
      '\u202e',
      'i0',
      ':0',
      '°',
      '•',
      '#',
      '-',
      '#-',
      '9'.repeat(63),
    ])
      expect((await get(`/?q=${encodeURIComponent(typed.toWellFormed())}`)).statusCode).toBe(303);
  });
});

describe('a hash that the index does not have', () => {
  const hash = 'cd'.repeat(32);

  test('is looked up at the node once, and counts as the hash of a file if the node does not have it', async () => {
    asked = [];
    expect(await targetOf(hash)).toBe(`/?hash=${hash}`);
    expect(asked).toEqual(['getrawtransaction']);
    // the node is not asked while a person is typing
    asked = [];
    expect(await namesOf(hash)).toMatchObject([{ kind: 'hash', path: `/?hash=${hash}` }]);
    expect(asked).toEqual([]);
  });

  test('has a page if the node fails or hangs', async () => {
    const hangs = (signal?: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    const fails = () => Promise.reject(new AppError('node_unreachable', 'secret place'));
    for (const fault of [fails, hangs]) {
      nodeFails = fault;
      const { statusCode, body } = await get(`/?hash=${hash}`);
      expect(statusCode).toBe(200);
      expect(body).not.toContain('secret');
    }
    nodeFails = null;
  });
});

describe('while texts cannot be searched', () => {
  const refuse = (error: Error) => async (): Promise<never> => Promise.reject(error);
  const open = async (error: Error): Promise<HttpApp> => {
    const failing: SearchService = {
      textSearch: refuse(error),
      hashSearch: refuse(error),
      facets: refuse(error),
      suggest: refuse(error),
      hashes: refuse(error),
      inscription: refuse(error),
    };
    return createHttpApp([{ height: 5, rows: [{ name: 'frog', body: 'one frog' }] }], { search: failing });
  };

  test.each([
    ['search_engine_unreachable', 'searches cannot be answered now; try again in a few seconds', 503],
    ['search_too_broad', 'too many texts', 400],
  ] as const)('the things that a text names are still shown (%s)', async (code, words, status) => {
    const broken = await open(new AppError(code, 'too many texts'));
    try {
      const shown = await broken.app.inject({ url: '/?text=5', headers: html });
      expect([shown.statusCode, shown.headers['cache-control']]).toEqual([200, 'no-store']);
      expect(shown.body).toContain('<li class="meaning"><a href="/block/5">');
      expect(shown.body).toContain(`The texts of inscriptions were not searched: ${words}`);
      const nothing = await broken.app.inject({ url: '/?text=frog', headers: html });
      expect(nothing.statusCode).toBe(status);
      expect(nothing.body).toContain(words);
    } finally {
      await broken.close();
    }
  });
});
