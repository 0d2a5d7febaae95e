import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blockHashOf, idOf, txidOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp, type SearchBody } from '#test/support/http-app.ts';

const hexOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const texts = Array.from({ length: 25 }, (_, index) => ({
  name: `text ${index}`,
  body: `This is text number ${index}, all say Hello`,
}));

let http: HttpApp;

beforeAll(async () => {
  http = await createHttpApp([
    { height: 0, rows: [] },
    {
      height: 1,
      rows: [
        ...texts,
        { name: 'json', type: 'application/json', body: '{"p":"brc-20","op":"mint","tick":"ordi"}' },
        { name: 'wild', body: `100%_of \\ 'single' "double" – Ünïcödé 🟠 nul:\0:` },
        { name: 'image', type: 'image/png', body: Buffer.from([0x89, 0x50, 0, 1]) },
      ],
    },
    {
      height: 2,
      rows: [
        { name: 'copy', body: texts[0]!.body, metadata: '{"name":"Copy, of a text","by":"Anna"}' },
        { name: 'no body', body: null },
      ],
    },
  ]);
});

afterAll(async () => {
  await http.close();
});

async function ask(url: string, headers: Record<string, string> = {}) {
  const answer = await http.app.inject({ url, headers });
  return { status: answer.statusCode, headers: answer.headers, text: answer.body };
}
async function get(url: string, headers: Record<string, string> = {}) {
  const { text, ...rest } = await ask(url, headers);
  return { ...rest, body: JSON.parse(text) as SearchBody };
}
const ids = (body: SearchBody): unknown[] => body.results.map((record) => record['inscriptionid']);

describe('GET /search?text=', () => {
  test('answers the envelope and records of the interface', async () => {
    const { status, headers, body } = await get('/search?text=brc-20');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    const text = '{"p":"brc-20","op":"mint","tick":"ordi"}';
    expect(body).toEqual({
      status: 'ok',
      count: 1,
      currentPage: 1,
      totalPages: 1,
      totalItems: 1,
      itemsPerPage: 100,
      results: [
        {
          txid: Buffer.from(txidOf('json')).reverse().toString('hex'),
          inputindex: '0',
          inscriptionid: idOf('json'),
          inscriptionnumber: '25',
          blockheight: '1',
          contentstr: text,
          contenttypestr: 'application/json',
          contenthash: hexOf(text),
          contentlength: String(text.length),
          metadatastr: null,
          createdat: '2024-01-02T03:04:05.678Z',
        },
      ],
    });
  });

  test('never has a top-level data key', async () => {
    for (const url of ['/search?text=hello', '/search?text=', `/indexer/inscription?id=${idOf('json')}`]) {
      expect(Object.keys((await get(url)).body)).not.toContain('data');
    }
  });

  test('counts pages from 1, and is empty after the end', async () => {
    const first = await get('/search?text=hello&itemsPerPage=10');
    expect(first.body).toMatchObject({
      count: 10,
      currentPage: 1,
      totalPages: 3,
      totalItems: 26,
      itemsPerPage: 10,
    });
    const third = await get('/search?text=hello&itemsPerPage=10&page=3');
    expect(third.body).toMatchObject({ count: 6, currentPage: 3, totalPages: 3, totalItems: 26 });
    expect(ids(third.body).at(-1)).toBe(idOf('copy'));
    const beyond = await get('/search?text=hello&itemsPerPage=10&page=4');
    expect(beyond.body).toMatchObject({ status: 'ok', count: 0, currentPage: 4, totalPages: 3, results: [] });
    const last = await get('/search?text=hello&page=2147483647&itemsPerPage=1000');
    expect(last.body).toMatchObject({ status: 'ok', count: 0, totalItems: 26 });
  });

  test('has no pages without matches', async () => {
    const { body } = await get('/search?text=not%20there');
    expect(body).toMatchObject({
      status: 'ok',
      count: 0,
      currentPage: 1,
      totalPages: 0,
      totalItems: 0,
      results: [],
    });
  });

  test('splits at commas, and lists the parts', async () => {
    const { headers, body } = await get('/search?text=number%207%2C%20hello%2C%2C');
    expect(ids(body)).toEqual([idOf('text 7')]);
    expect(headers['x-search-needles']).toBe('number%207,hello');
  });

  test('reads the whole text as one needle with phrase=1', async () => {
    const text = encodeURIComponent('"p":"brc-20","op":"mint"');
    const { headers, body } = await get(`/search?text=${text}&phrase=1`);
    expect(ids(body)).toEqual([idOf('json')]);
    expect(headers['x-search-needles']).toBe(text);
    const reversed = encodeURIComponent('"op":"mint","p":"brc-20"');
    expect((await get(`/search?text=${reversed}&phrase=true`)).body.totalItems).toBe(0);
    expect((await get(`/search?text=${reversed}&phrase=0`)).body.totalItems).toBe(1);
  });

  test('names its height and tip, and answers 304 to clients that have it', async () => {
    const { headers } = await get('/search?text=hello');
    expect(headers['x-indexed-height']).toBe('2');
    expect(headers['cache-control']).toBe('no-cache');
    const etag = headers.etag as string;
    const again = await ask('/search?text=hello', { 'if-none-match': etag });
    expect(again.status).toBe(304);
    expect(again.text).toBe('');
    expect(again.headers).toMatchObject({
      etag,
      'x-indexed-height': '2',
      'access-control-allow-origin': '*',
    });
    expect((await get('/search?text=hello&page=2', { 'if-none-match': etag })).status).toBe(200);
  });

  test('has another ETag when the tip changes at the same height', async () => {
    const { headers } = await get('/search?text=hello');
    await http.database.pool.query('UPDATE chain.state SET tip_hash = $1', [Buffer.alloc(32, 9)]);
    const after = await get('/search?text=hello', { 'if-none-match': headers.etag as string });
    await http.database.pool.query('UPDATE chain.state SET tip_hash = $1', [blockHashOf(2)]);
    expect(after.status).toBe(200);
    expect(after.headers.etag).not.toBe(headers.etag);
  });

  test('ignores unknown parameters, and an empty key', async () => {
    const { body } = await get('/search?text=brc-20&apikey=1&apikey=2&data=x', { 'x-api-key': '' });
    expect(body).toMatchObject({ status: 'ok', totalItems: 1 });
  });

  test('answers HEAD without a body', async () => {
    const answer = await http.app.inject({ method: 'HEAD', url: '/search?text=hello' });
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toBe('');
    expect(answer.headers['x-indexed-height']).toBe('2');
  });

  test('understands the absolute form of requests through a proxy', async () => {
    const { body } = await get('/search?text=brc-20');
    const proxied = await http.app.inject({ url: 'http://api.example/search?text=brc-20' });
    expect(proxied.json()).toEqual(body);
  });
});

describe('GET /search?hash=', () => {
  test('finds every inscription of a content, earliest first, with the interface’s subset of fields', async () => {
    const { headers, body } = await get(`/search?hash=${hexOf(texts[0]!.body)}`);
    expect(body).toMatchObject({ status: 'ok', count: 2, totalItems: 2, totalPages: 1 });
    expect(ids(body)).toEqual([idOf('text 0'), idOf('copy')]);
    expect(Object.keys(body.results[0]!).toSorted()).toEqual([
      'blockheight',
      'contenthash',
      'contentlength',
      'contenttypestr',
      'createdat',
      'inputindex',
      'inscriptionid',
      'txid',
    ]);
    expect(headers['x-indexed-height']).toBe('2');
  });

  test('accepts upper case', async () => {
    expect((await get(`/search?hash=${hexOf(texts[3]!.body).toUpperCase()}`)).body.totalItems).toBe(1);
  });

  test('is empty for a new content', async () => {
    expect((await get(`/search?hash=${'0'.repeat(64)}`)).body).toMatchObject({
      status: 'ok',
      count: 0,
      totalPages: 0,
    });
  });
});

describe('GET /indexer/metadata', () => {
  test('only searches in metadata', async () => {
    const { headers, body } = await get('/indexer/metadata?text=anna,copy');
    expect(ids(body)).toEqual([idOf('copy')]);
    expect(body.results[0]!['metadatastr']).toBe('{"name":"Copy, of a text","by":"Anna"}');
    expect(headers['x-search-needles']).toBe('anna,copy');
    expect((await get('/indexer/metadata?text=brc-20')).body.totalItems).toBe(0);
  });
});

describe('GET /indexer/inscription', () => {
  test('has status and one record with owner and content', async () => {
    const { status, headers, body } = await get(`/indexer/inscription?id=${idOf('image')}`);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['status', 'results']);
    expect(body.results).toHaveLength(1);
    expect(body.results[0]).toMatchObject({
      inscriptionid: idOf('image'),
      owner: 'bcrt1qqurswpc8qurswpc8qurswpc8qurswpc8dxm0gk',
      content: '89500001',
      contentlength: '4',
    });
    expect(headers['x-indexed-height']).toBe('2');
  });

  test('is ok and empty if the inscription is not indexed', async () => {
    expect((await get(`/indexer/inscription?id=${idOf('missing')}`)).body).toEqual({
      status: 'ok',
      results: [],
    });
    expect((await get(`/indexer/inscription?id=${idOf('image', 1)}`)).body).toEqual({
      status: 'ok',
      results: [],
    });
  });
});

describe('POST /search/hashes', () => {
  const post = async (payload: object) =>
    (await http.app.inject({ method: 'POST', url: '/search/hashes', payload })).json<SearchBody>();

  test('marks new ones and has the first inscription of the others, in the requested order', async () => {
    const [known, unknown] = [hexOf(texts[0]!.body), 'ab'.repeat(32)];
    const body = await post({ hashes: [unknown, known.toUpperCase(), known] });
    expect(body).toMatchObject({
      status: 'ok',
      count: 3,
      newCount: 1,
      coverage: { fromHeight: 0, toHeight: 2, blocks: 3, share: 1, complete: true },
    });
    expect(
      body.results.map(({ hash, new: isNew, first }) => [
        hash,
        isNew,
        (first as { inscriptionid: string } | null)?.inscriptionid,
      ]),
    ).toEqual([
      [unknown, true, undefined],
      [known, false, idOf('text 0')],
      [known, false, idOf('text 0')],
    ]);
    expect(body.results[0]!['first']).toBeNull();
    expect(body.results[1]!['first']).toMatchObject({
      inscriptionnumber: '0',
      blockheight: '1',
      contenthash: known,
    });
  });

  test('accepts 10,000 at once and refuses more', async () => {
    const hashes = Array.from({ length: 10_000 }, (_, index) => hexOf(`new ${index}`));
    expect(await post({ hashes })).toMatchObject({ status: 'ok', count: 10_000, newCount: 10_000 });
    expect(await post({ hashes: [...hashes, hashes[0]] })).toEqual({
      status: 'error',
      error: 'hashes has more than 10000 entries',
      code: 'request_invalid',
      parameter: 'hashes',
      docs: '/docs/#/search/lookUpHashes',
    });
  });

  test('is ok with an empty list', async () => {
    expect(await post({ hashes: [] })).toMatchObject({ status: 'ok', count: 0, newCount: 0, results: [] });
  });
});

describe('ord’s search', () => {
  const target = async (url: string): Promise<string | undefined> => {
    const answer = await http.app.inject({ url });
    expect(answer.statusCode).toBe(303);
    return answer.headers.location;
  };

  test.each([
    [idOf('json'), `/inscription/${idOf('json')}`],
    ['7', '/inscription/7'],
    ['-7', '/inscription/-7'],
    [blockHashOf(1).reverse().toString('hex'), `/block/${blockHashOf(1).reverse().toString('hex')}`],
    [idOf('json').slice(0, 64), `/tx/${idOf('json').slice(0, 64)}`],
    [`${'CD'.repeat(32)}:7`, `/output/${'cd'.repeat(32)}:7`],
    ['CD'.repeat(32), `/?hash=${'cd'.repeat(32)}`],
    ['bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', '/address/bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '/?text=bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['UNCOMMON•GOODS', '/?text=UNCOMMON%E2%80%A2GOODS'],
    ['//evil.example/', '/?text=%2F%2Fevil.example%2F'],
    [' 7 ', '/inscription/7'],
  ])('redirects from %j to %s', async (query, expected) => {
    expect(await target(`/search?query=${encodeURIComponent(query)}`)).toBe(expected);
    expect(await target(`/search/${encodeURIComponent(query)}`)).toBe(expected);
  });
});

describe('a path that is only an identifier', () => {
  test.each([
    [idOf('json'), `/inscription/${idOf('json')}`],
    ['-7', '/inscription/-7'],
    [blockHashOf(1).reverse().toString('hex'), `/block/${blockHashOf(1).reverse().toString('hex')}`],
    ['ab'.repeat(32), `/tx/${'ab'.repeat(32)}`],
    [`${'ab'.repeat(32)}:7`, `/output/${'ab'.repeat(32)}:7`],
  ])('%s redirects to %s, as in ord', async (query, expected) => {
    const answer = await http.app.inject(`/${query}`);
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe(expected);
  });

  test('is 404 if it is not an identifier', async () => {
    for (const query of ['nothing', '0:', '7/8', '%2Fetc', '//evil.example']) {
      expect((await http.app.inject(`/${query}`)).statusCode).toBe(404);
    }
  });
});

describe('an empty database', () => {
  test('answers searches without matches and without a height', async () => {
    const empty = await createHttpApp([]);
    const answer = await empty.app.inject('/search?text=hello');
    expect(answer.json()).toMatchObject({ status: 'ok', totalItems: 0, totalPages: 0 });
    expect(answer.headers['x-indexed-height']).toBeUndefined();
    expect((await empty.app.inject('/')).statusCode).toBe(200);
    expect((await empty.app.inject('/blocks')).body).toContain('No block is indexed');
    await empty.close();
  });
});
