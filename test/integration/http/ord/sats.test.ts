import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

/** Paths about sats. golden.test.ts compares the responses about every sat with ord's responses. */
const golden = new GoldenChain('sats-1');
const [best] = golden.tips();
const tip = golden.chain.headers.at(-1)!;
const folder = mkdtempSync(join(tmpdir(), 'satscribe-sats-'));
let database: TestDatabase;
let blocks: BlockSource;
let app: App;

beforeAll(async () => {
  golden.writeFolder(folder);
  database = await createTestDatabase();
  const { pool, readers } = database;
  blocks = await openFolderSource(folder);
  await follow({ source: blocks, pool, signal: new AbortController().signal, threads: parseThreads() });
  app = buildCheckedApp({
    ...readerParts(readers, networks[golden.chain.network]),
    blocks,
  });
  await app.ready();
});

afterAll(async () => {
  await app.close();
  await blocks.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const get = async (url: string, headers: Record<string, string> = {}) =>
  app.inject({ url, headers: { accept: 'application/json', ...headers } });

/** `/sat/<text>`. */
const sat = async (text: string, headers: Record<string, string> = {}) =>
  get(`/sat/${encodeURIComponent(text)}`, headers);

describe('/sat', () => {
  test('has ord’s fields in ord’s order', async () => {
    const recorded = golden.satAnswers<object>(best!, 'sat').find(({ value }) => value !== undefined);
    const { headers, body } = await sat(recorded!.key);
    expect(Object.keys(JSON.parse(body) as object)).toEqual(Object.keys(recorded!.value!));
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['x-indexed-height']).toBe(String(tip.height));
  });

  test('has the time of the block, and is not sent again at the same tip', async () => {
    const block = golden.block(golden.chain.headers[9]!).bytes;
    const time = new DataView(block.buffer, block.byteOffset).getUint32(68, true);
    const first = await sat('9.0');
    expect(first.json()).toMatchObject({ block: 9, timestamp: time });
    expect((await sat('9.0', { 'if-none-match': String(first.headers.etag) })).statusCode).toBe(304);
  });

  test('expects a future block ten minutes after the previous one', async () => {
    const answer = await sat(`${tip.height + 7}.0`);
    // on regtest ord counts from 1970
    expect(answer.json()).toMatchObject({ block: tip.height + 7, timestamp: 4_200 });
    expect(answer.headers.etag).toBeUndefined();
  });

  test('is a page for browsers, with the neighbours of the sat and its satributes', async () => {
    const accept = 'text/html,*/*;q=0.8';
    const answer = await sat('9.0', { accept });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers['vary']).toContain('Accept');
    for (const part of [
      '<h1 class="wrap">Sat 45,000,000,000</h1>',
      '<a href="/satributes/uncommon?sat=45000000000">',
      'in block <a href="/block/9">9</a>',
      '<a href="/sat/44999999999" rel="prev">',
      '<a href="/sat/45000000001" rel="next">',
      'this server has no index of sats',
    ])
      expect(answer.body).toContain(part);
    expect((await sat('0', { accept })).body).not.toContain('rel="prev"');
    const last = await sat('2099999997689999', { accept });
    expect(last.body).not.toContain('rel="next"');
    expect(last.body).toContain('which is still to come');
    const refused = await sat('-1', { accept });
    expect(refused.headers['content-type']).toContain('text/html');
    expect(refused.body).toContain('-1 names no sat. Name a sat by its number, name');
    expect(refused.body).toContain('href="/?q=-1"');
    expect(refused.headers['vary']).toContain('Accept');
    expect((await sat('-1')).body).toContain('failed to parse sat');
    expect((await sat('9.0', { accept: '*/*' })).headers['content-type']).toContain('application/json');
  });

  test.each([
    ['2099999997690000', 'invalid integer range'],
    ['-1', 'invalid integer: invalid digit found in string'],
    ['6930000.0', 'invalid block offset'],
    ['100.1%', 'invalid percentile'],
    ['nan%', 'invalid character in name'],
    ['aaaaaaaaaaaa', 'invalid name range'],
    ['0°210000′336″0‴', 'invalid epoch offset'],
    ['0°0′', 'missing second symbol'],
  ])('%s is refused in ord’s words', async (text, reason) => {
    const answer = await sat(text);
    expect(answer.statusCode).toBe(400);
    const error = `Invalid URL: failed to parse sat \`${text}\`: ${reason}`;
    expect(answer.json()).toEqual({ status: 'error', error });
  });

  test.each(['/sat/%', '/sat/%e2%28', '/sat/'])('%s is a client fault', async (url) => {
    expect([400, 404]).toContain((await get(url)).statusCode);
  });
});

test('/ordinal redirects to /sat, for any text', async () => {
  for (const text of ['45000000000', 'satoshi', '0°0′0″0‴', '50%', '-1']) {
    const { statusCode, headers } = await get(`/ordinal/${encodeURIComponent(text)}`);
    expect(statusCode).toBe(303);
    expect(decodeURIComponent(String(headers.location))).toBe(`/sat/${text}`);
  }
});

describe('without a sat index', () => {
  test('/rare.txt only has its heading', async () => {
    const { statusCode, headers, body } = await get('/rare.txt');
    expect([statusCode, headers['content-type'], body]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'sat\tsatpoint\n',
    ]);
  });

  const coinbase = (): string =>
    golden.satAnswers(best!, 'output-ranges').find(({ key }) => !key.startsWith('0000'))!.key;

  test.each([
    ['/r/sat/45000000000', 404, 'this server has no sat index'],
    ['/r/sat/45000000000/3', 404, 'this server has no sat index'],
    // ord reads a number of 64 bits here, and does not check that the sat exists
    ['/r/sat/18446744073709551615', 404, 'this server has no sat index'],
    ['/r/sat/18446744073709551616', 400, 'sat is not a whole number'],
    ['/r/sat/nvtdijuwxlp', 400, 'sat is not a whole number'],
    ['/r/sat/0/-1', 400, 'page is not a whole number'],
    ['/r/sat/nvtdijuwxlp/at/0', 404, 'this server has no sat index'],
    ['/r/sat/0/at/-1', 404, 'this server has no sat index'],
    ['/r/sat/0/at/-1/content', 404, 'this server has no sat index'],
    ['/r/sat/0/at/9223372036854775808', 400, 'the index is not a whole number'],
    ['/r/sat/0/at/last', 400, 'the index is not a whole number'],
    [
      '/r/sat/2099999997690000/at/0',
      400,
      'Invalid URL: failed to parse sat `2099999997690000`: invalid integer range',
    ],
    ['/inscription/nvtdijuwxlp', 404, 'sat index required'],
    ['/inscription/zzzzzzzzzzz', 400, 'Invalid URL: failed to parse sat `zzzzzzzzzzz`: invalid name range'],
    ['/satpoint/0:0', 400, 'a satpoint is named by <txid>:<vout>:<offset>'],
    [
      `/satpoint/${'00'.repeat(32)}:0:18446744073709551616`,
      400,
      'a satpoint is named by <txid>:<vout>:<offset>',
    ],
    [`/satpoint/${'ab'.repeat(32)}:0:0`, 404, `satpoint ${'ab'.repeat(32)}:0:0 not found`],
    [() => `/satpoint/${coinbase()}:0`, 404, 'sat index required'],
  ])('%s is %i: %s', async (url, status, error) => {
    const answer = await get(typeof url === 'string' ? url : url());
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({ status: 'error', error });
  });
});

describe('/search redirects', () => {
  const txid = 'ab'.repeat(32);
  test.each([
    ['0°0′0″0‴', '/sat/0°0′0″0‴'],
    ['1°1′1″', '/sat/1°1′1″'],
    ['2016.0', '/sat/2016.0'],
    // ord also finds only at the target that there is no such sat
    ['6930000.0', '/sat/6930000.0'],
    ['50.5%', '/sat/50.5%'],
    [`${txid.toUpperCase()}:1:2`, `/satpoint/${txid}:1:2`],
    ['12', '/inscription/12'],
    ['satoshi', '/?text=satoshi'],
    ['1.5 sats', '/?text=1.5 sats'],
    ['v1.5', '/?text=v1.5'],
  ])('from %s to %s', async (query, target) => {
    for (const url of [
      `/search/${encodeURIComponent(query)}`,
      `/search?query=${encodeURIComponent(query)}`,
    ]) {
      const { statusCode, headers } = await get(url);
      expect(statusCode).toBe(303);
      expect(decodeURIComponent(String(headers.location))).toBe(target);
    }
  });

  test('from a bare satpoint too', async () => {
    const { statusCode, headers } = await get(`/${txid}:1:2`);
    expect([statusCode, headers.location]).toEqual([303, `/satpoint/${txid}:1:2`]);
  });
});
