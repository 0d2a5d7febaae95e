import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Highlight } from '#kernel/contracts/search-service.ts';
import { charms } from '#kernel/primitives/charm.ts';
import { blockHashOf, idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp, type SearchBody } from '#test/support/http-app.ts';

const long = `${'–'.repeat(4_000)} a needle far behind, and more`;
const many = Array.from({ length: 25 }, (_, index) => ({ name: `many ${index}`, body: `many no ${index}` }));

let http: HttpApp;

beforeAll(async () => {
  http = await createHttpApp([
    {
      height: 0,
      rows: [
        { name: 'parent', body: 'A Deploy of ordi' },
        { name: 'html', type: 'text/html', body: '<p>deploy' },
        { name: 'cursed', body: 'deployed twice', charms: charms.cursed, curse: 1 },
        { name: 'long', body: long },
      ],
    },
    {
      height: 200,
      islandHeight: 200,
      rows: [
        { name: 'child', body: 'deploy me', parents: [idOf('parent')], metaprotocol: 'brc-20' },
        {
          name: 'traits',
          body: 'deploy art',
          metadata: '{"name":"Foo","list":[{"deep":12.50}],"deploy":true}',
          properties: `{"gallery":[{"id":"${idOf('child')}","attributes":{"traits":{}}}],"attributes":{"title":"My Genesis","traits":{"Hat":"Red","Size":7}}}`,
        },
        ...many,
      ],
    },
  ]);
});
afterAll(() => http.close());

async function get(url: string, headers: Record<string, string> = {}) {
  const answer = await http.app.inject({ url, headers });
  const body = JSON.parse(answer.body === '' ? '{}' : answer.body) as SearchBody & Record<string, unknown>;
  return { status: answer.statusCode, headers: answer.headers, body };
}
const names = ['parent', 'html', 'cursed', 'long', 'child', 'traits', ...many.map(({ name }) => name)];
const nameOf = new Map(names.map((name) => [idOf(name), name]));
const found = async (url: string): Promise<unknown[]> => {
  const { body } = await get(url);
  expect(body.error).toBeUndefined();
  return body.results.map((record) => nameOf.get(String(record['inscriptionid'])));
};

describe('filters of searches', () => {
  test.each([
    ['contentType=text/html', ['html']],
    ['contentType=text/*&to=0', ['parent', 'html', 'cursed']],
    ['from=1', ['child', 'traits']],
    ['to=199', ['parent', 'html', 'cursed']],
    ['from=5&to=4', []],
    ['cursed=true', ['cursed']],
    ['cursed=false&to=0', ['parent', 'html']],
    ['metaprotocol=brc-20', ['child']],
    [`parent=${idOf('parent')}`, ['child']],
    ['title=GENESIS', ['traits']],
    ['trait=hat:red', ['traits']],
    ['trait=Hat:Red,size:7', ['traits']],
    ['trait=Hat:Re', []],
    [`gallery=${idOf('child')}`, ['traits']],
  ])('%s', async (filter, expected) => {
    expect(await found(`/search?text=deploy&${filter}`)).toEqual(expected);
    const hash = createHash('sha256').update('deploy me').digest('hex');
    const byHash = expected.includes('child') ? ['child'] : [];
    expect(await found(`/search?hash=${hash}&${filter}`)).toEqual(byHash);
  });

  test('find metadata by key, by value, and by value under a key, with and without a text', async () => {
    for (const query of ['key=NAME', 'value=foo', 'key=name&value=FOO', 'key=deep&value=12.50', 'title=my'])
      expect(await found(`/indexer/metadata?${query}`)).toEqual(['traits']);
    for (const query of ['key=foo', 'value=12.5', 'key=deep&value=foo'])
      expect(await found(`/indexer/metadata?${query}`)).toEqual([]);
    expect(await found('/indexer/metadata?text=deploy&value=true')).toEqual(['traits']);
    expect(await found('/indexer/metadata?text=nothing&value=true')).toEqual([]);
  });
});

describe('words', () => {
  test('are whole, in any order, and listed in the answer', async () => {
    const { headers } = await get('/search?text=ME%20Deploy&words=1');
    expect(headers['x-search-needles']).toBe('me,deploy');
    expect(await found('/search?text=ME%20Deploy&words=1')).toEqual(['child']);
    expect(await found('/search?text=deploy&words=1')).toEqual(['parent', 'html', 'child', 'traits']);
    expect(await found('/indexer/metadata?text=foo,deploy&words=1')).toEqual(['traits']);
  });

  test('may be some edits away', async () => {
    expect(await found('/search?text=delpoy&fuzzy=1')).toEqual(['parent', 'html', 'child', 'traits']);
    expect(await found('/search?text=delpoyed,twicf&fuzzy=1')).toEqual(['cursed']);
    expect(await found('/search?text=delpoy&words=1')).toEqual([]);
  });
});

describe('order', () => {
  test('is that of application, of numbers or of sizes, either way', async () => {
    const byHeight = ['parent', 'html', 'cursed', 'child', 'traits'];
    expect(await found('/search?text=deploy&sort=height&order=desc')).toEqual(byHeight.toReversed());
    expect(await found('/search?text=deploy&sort=number')).toEqual([
      'cursed',
      'parent',
      'html',
      'child',
      'traits',
    ]);
    const bySize = ['html', 'child', 'traits', 'cursed', 'parent'];
    expect(await found('/search?text=deploy&sort=length')).toEqual(bySize);
    expect(await found('/search?text=deploy&sort=length&order=desc')).toEqual(bySize.toReversed());
  });
});

describe('pages by cursor', () => {
  const walk = async (query: string, onPage: (page: number) => Promise<void> = async () => {}) => {
    const seen: unknown[] = [];
    for (let cursor: string | null = '', page = 1; cursor !== null; page++) {
      const { body } = await get(`/search?${query}&cursor=${cursor}`);
      expect(body).toMatchObject({ status: 'ok', currentPage: page });
      seen.push(...body.results.map((record) => nameOf.get(String(record['inscriptionid']))));
      cursor = body['nextCursor'] as string | null;
      await onPage(page);
    }
    return seen;
  };

  test.each(['height', 'number', 'length'])('have every match once, in the order of %s', async (sort) => {
    for (const order of ['asc', 'desc']) {
      const whole = await found(`/search?text=o&sort=${sort}&order=${order}`);
      expect(await walk(`text=o&sort=${sort}&order=${order}&itemsPerPage=4`)).toEqual(whole);
    }
    const hash = createHash('sha256').update('many no 3').digest('hex');
    expect(await walk(`hash=${hash}&sort=${sort}&itemsPerPage=1`)).toEqual(['many 3']);
  });

  test('begin with an empty cursor, and need a cursor', async () => {
    expect((await get('/search?text=many&itemsPerPage=10')).body).not.toHaveProperty('nextCursor');
    const { body } = await get('/search?text=many&itemsPerPage=25&cursor=');
    expect(body).toMatchObject({ count: 25, totalItems: 25, totalPages: 1, nextCursor: null });
    const last = await get('/indexer/metadata?key=name&cursor=');
    expect(last.body['nextCursor']).toBeNull();
  });

  test('are refused in another search, and after a reorganisation', async () => {
    const cursorOf = async () =>
      String((await get('/search?text=many&itemsPerPage=10&cursor=')).body['nextCursor']);
    const cursor = await cursorOf();
    for (const other of ['text=Many&order=desc', 'text=no', 'text=many&cursed=false']) {
      const { status, body } = await get(`/search?${other}&itemsPerPage=10&cursor=${cursor}`);
      expect({ status, body }).toEqual({
        status: 200,
        body: { status: 'error', error: expect.stringContaining('cursor') as string },
      });
    }
    expect((await get(`/search?text=MANY&itemsPerPage=5&cursor=${cursor}`)).body.count).toBe(5);
    await http.database.pool.query('UPDATE chain.blocks SET hash = $1 WHERE height = 200', [
      Buffer.alloc(32, 9),
    ]);
    const stale = await get(`/search?text=many&itemsPerPage=10&cursor=${cursor}`);
    await http.database.pool.query('UPDATE chain.blocks SET hash = $1 WHERE height = 200', [
      blockHashOf(200),
    ]);
    expect(stale.status).toBe(410);
    expect(stale.body).toEqual({ status: 'error', error: expect.stringContaining('reorganised') as string });
  });
});

describe('highlights', () => {
  const highlights = async (url: string) =>
    (await get(url)).body.results.map((record) =>
      (record['highlights'] as Highlight[]).map(({ text, matches }) =>
        matches.map(({ start, end }) => text.slice(start, end)),
      ),
    );

  test('show the matches, also in contents beyond the shown part, and in metadata', async () => {
    expect(await highlights('/search?text=NEEDLE,behind&highlight=1')).toEqual([[['needle', 'behind']]]);
    const { body } = await get('/search?text=needle&highlight=1');
    const { contentstr, highlights: pieces } = body.results[0] as {
      contentstr: string;
      highlights: Highlight[];
    };
    expect(contentstr).toBe(long.slice(0, 1_365));
    expect(long.slice(pieces[0]!.offset).startsWith(pieces[0]!.text)).toBe(true);
    expect(await highlights('/indexer/metadata?text=foo&highlight=1')).toEqual([[['Foo']]]);
    expect(await highlights('/search?text=delpoyed&fuzzy=1&highlight=1&cursed=true')).toEqual([
      [['deployed']],
    ]);
    expect(await highlights('/indexer/metadata?key=name&highlight=1')).toEqual([[]]);
  });

  test('are absent unless requested', async () => {
    expect((await get('/search?text=needle')).body.results[0]).not.toHaveProperty('highlights');
  });
});

describe('GET /search/facets', () => {
  test('counts by content type and by day', async () => {
    const { body, headers } = await get('/search/facets?text=deploy');
    expect(body).toEqual({
      status: 'ok',
      totalItems: 5,
      types: [
        { contentType: 'text/plain;charset=utf-8', count: 4 },
        { contentType: 'text/html', count: 1 },
      ],
      otherTypes: 0,
      days: [
        { day: '2023-11-14', count: 3 },
        { day: '2023-11-16', count: 2 },
      ],
    });
    expect(headers).toMatchObject({ 'x-indexed-height': '200', 'x-search-needles': 'deploy' });
    const again = await get('/search/facets?text=deploy', { 'if-none-match': String(headers.etag) });
    expect(again.status).toBe(304);
  });

  test('counts the matches of the search with the same parameters', async () => {
    const hash = createHash('sha256').update('deploy me').digest('hex');
    for (const query of ['text=deploy&cursed=true', 'text=delpoy&fuzzy=1', `hash=${hash}`, 'text=zzz']) {
      const { totalItems } = (await get(`/search?${query}`)).body;
      expect((await get(`/search/facets?${query}`)).body.totalItems).toBe(totalItems);
    }
    const { body } = await get('/search/facets?corpus=metadata&key=name');
    expect(body).toMatchObject({ totalItems: 1, days: [{ day: '2023-11-16', count: 1 }] });
  });
});

describe('GET /search/suggest', () => {
  const suggest = async (text: string) =>
    (await get(`/search/suggest?text=${encodeURIComponent(text)}`)).body;

  test('completes the typed word, with the most frequent completion first', async () => {
    expect(await suggest('A Depl')).toEqual({
      status: 'ok',
      words: [
        { text: 'A deploy', word: 'deploy', contents: 4 },
        { text: 'A deployed', word: 'deployed', contents: 1 },
      ],
      names: [],
    });
    // the suggestion is a word with the typed words before it
    expect((await suggest('twice depl'))['words']).toEqual([
      { text: 'twice deployed', word: 'deployed', contents: 1 },
    ]);
    expect((await suggest('m'))['words']).toMatchObject([{ word: 'many', contents: 25 }, { word: 'me' }]);
  });

  test('names the things that a number, an id and an address mean', async () => {
    expect((await suggest('0'))['names']).toEqual([
      { kind: 'inscription', name: 'Inscription #0', path: `/inscription/${idOf('parent')}` },
      { kind: 'block', name: 'Block 0', path: '/block/0' },
    ]);
    expect((await suggest('#1'))['names']).toMatchObject([{ path: `/inscription/${idOf('html')}` }]);
    expect((await suggest(idOf('child')))['names']).toMatchObject([
      { path: `/inscription/${idOf('child')}` },
    ]);
    const txid = idOf('child').slice(0, 64);
    expect((await suggest(txid.toUpperCase()))['names']).toMatchObject([
      { kind: 'transaction', name: txid, path: `/tx/${txid}` },
      { kind: 'inscription', path: `/inscription/${idOf('child')}` },
    ]);
    expect((await suggest('Block 9'))['names']).toEqual([
      { kind: 'satribute', name: 'Block 9', path: '/satributes/block9' },
    ]);
    expect((await suggest(`${txid}:0`))['names']).toMatchObject([
      { kind: 'output', path: `/output/${txid}:0` },
    ]);
    expect((await suggest('2,099,999,997,689,999'))['names']).toMatchObject([
      { kind: 'sat', path: '/sat/2099999997689999' },
    ]);
    expect((await suggest('0'.repeat(64)))['names']).toMatchObject([{ path: `/?hash=${'0'.repeat(64)}` }]);
    const address = 'bcrt1qqurswpc8qurswpc8qurswpc8qurswpc8dxm0gk';
    expect((await suggest(address))['names']).toEqual([
      { kind: 'address', name: address, path: `/address/${address}` },
    ]);
  });

  test('has no suggestions for a text that is empty, ends without a word, or is too long', async () => {
    for (const text of ['', '  ', 'deploy ', '"', '😀', 'x'.repeat(65), 'y'.repeat(5_000)])
      expect(await suggest(text)).toEqual({ status: 'ok', words: [], names: [] });
  });

  test('is not read as ord’s search by path', async () => {
    expect((await get('/search/suggest')).body).toEqual({
      status: 'error',
      error: 'text is missing',
      code: 'request_invalid',
      parameter: 'text',
      docs: '/docs/#/search/suggestSearch',
    });
    expect((await get('/search/facets')).body).toMatchObject({ status: 'error' });
    expect((await http.app.inject('/search/suggestion')).statusCode).toBe(303);
  });
});

describe('refused requests', () => {
  test.each([
    ['/search', 'text=a&sort=age', 'sort must be one of'],
    ['/search', 'text=a&sort=height&sort=number', 'sort is given more than once'],
    ['/search', 'text=a&order=', 'order must be one of'],
    ['/search', 'text=a&words=yes', 'words must be one of'],
    ['/search', 'text=a&words=1&phrase=1', 'phrase'],
    ['/search', 'text=%21&words=1', 'text has no word'],
    ['/search', `text=${'x'.repeat(65)}&fuzzy=1`, 'a word is longer'],
    ['/search', 'text=a&from=x', 'from is not a whole number'],
    ['/search', 'text=a&to=-1', 'to must be >= 0'],
    ['/search', 'text=a&cursed=1', 'cursed must be one of'],
    ['/search', 'text=a&parent=1', 'parent is not an inscription id'],
    ['/search', 'text=a&trait=Hat', 'trait must be Name:Value'],
    ['/search', 'text=a&page=1&cursor=', 'page and cursor'],
    ['/search', 'text=a&pending=1&cursor=', 'pending excludes cursor'],
    ['/search', 'text=a&cursor=AQ', 'cursor'],
    ['/search', `text=a&cursor=${'A'.repeat(500)}`, 'cursor'],
    ['/search', 'text=a&highlight=1&itemsPerPage=101', 'itemsPerPage must be <= 100'],
    ['/search', `hash=${'0'.repeat(64)}&highlight=1`, 'highlight can only be used with text'],
    ['/search', `hash=${'0'.repeat(64)}&words=1`, 'words can only be used with text'],
    ['/search', 'title=a', 'one of text, hash and query is required'],
    ['/indexer/metadata', 'cursed=true', 'text is missing'],
    ['/indexer/metadata', 'key=', 'key is empty'],
  ])('%s?%s', async (path, query, words) => {
    const { status, body } = await get(`${path}?${query}`);
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'error', error: expect.stringContaining(words) as string });
  });

  test.each([
    ['text=a&pending=1', 'pending excludes facets', 'pending'],
    ['text=a&corpus=all', 'corpus must be one of', 'corpus'],
    ['text=a&key=b', 'key and value need corpus=metadata', 'key'],
    [`text=a&hash=${'0'.repeat(64)}`, 'only one of text and hash', undefined],
    ['corpus=metadata', 'text is missing', 'text'],
    ['text=a&from=x', 'from is not a whole number', 'from'],
  ])('/search/facets?%s', async (query, words, parameter) => {
    expect(await get(`/search/facets?${query}`)).toMatchObject({
      status: 400,
      body: {
        status: 'error',
        error: expect.stringContaining(words) as string,
        code: 'request_invalid',
        ...(parameter === undefined ? {} : { parameter }),
        docs: '/docs/#/search/searchFacets',
      },
    });
  });

  test.each([
    ['/search/facets?txt=a', 'txt', 'text'],
    ['/search/facets?text=a&contenttype=b', 'contenttype', 'contentType'],
    ['/search/suggest?text=a&tex=b', 'tex', 'text'],
    ['/events?form=1', 'form', 'from'],
    ['/events/hashes?limits=1', 'limits', 'limit'],
    ['/mempool/transfers?adress=1', 'adress', 'address'],
    [`/inscription/${'0'.repeat(64)}i0/transfers?ordr=asc`, 'ordr', 'order'],
  ])('%s names the nearest known parameter', async (url, parameter, nearest) => {
    const { status, body } = await get(url);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        code: 'parameter_unknown',
        parameter,
        error: `${parameter} is not a parameter of this path: did you mean ${nearest}?`,
      },
    });
  });

  test('unknown parameters of pages, of ord’s paths and of the interface’s are ignored', async () => {
    for (const url of [
      '/search?text=deploy&txt=a',
      '/status?x=1',
      '/inscriptions?x=1',
      '/blockheight?x=1',
      '/?x=1',
    ])
      expect([url, (await http.app.inject(url)).statusCode]).toEqual([url, 200]);
  });

  test('a needle of a megabyte is refused at once, by the first part that reads it', async () => {
    const address = await http.app.listen({ host: '127.0.0.1', port: 0 });
    for (const path of ['/search?text=', '/search/suggest?text=', '/indexer/metadata?text=', '/?text=']) {
      const answer = await fetch(`${address}${path}${'x'.repeat(1_000_000)}`);
      expect(answer.status).toBe(431);
      expect(await answer.json()).toEqual({ status: 'error', error: 'the URL and headers are too large' });
    }
    const within = await http.app.inject(`/search?text=${'x'.repeat(40_000)}`);
    expect(within.json()).toEqual({ status: 'error', error: 'the URL is longer than 32768 bytes' });
  });
});
