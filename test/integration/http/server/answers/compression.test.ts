import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import {
  brotliCompressSync,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  gunzipSync,
} from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const html = { accept: 'text/html' };
const longText = 'a line of text\n'.repeat(1000);
const packed = brotliCompressSync(longText);

describe('an answer', () => {
  let http: HttpApp;
  beforeAll(async () => {
    http = await createHttpApp([
      {
        height: 0,
        rows: [
          { name: 'long', body: longText },
          { name: 'page', type: 'text/html', body: longText },
          { name: 'packed', type: 'text/html', body: packed, encoding: 'br' },
          ...Array.from({ length: 200 }, (_, index) => ({ name: `row ${index}`, body: `row ${index}` })),
        ],
      },
    ]);
  });
  afterAll(() => http.close());

  const ask = (url: string, encoding: string | null, headers: Record<string, string> = {}) =>
    http.app.inject({
      url,
      headers: { ...headers, ...(encoding === null ? {} : { 'accept-encoding': encoding }) },
    });

  const compressed: readonly [string, Record<string, string>][] = [
    ['/', html],
    ['/block/0', html],
    ['/inscriptions?limit=300', {}],
    ['/search?text=row&itemsPerPage=200', {}],
    ['/search?text=row&itemsPerPage=15', {}],
  ];

  test.each(compressed)(
    '%s is the same in brotli and gzip, with one weak entity tag',
    async (url, headers) => {
      const plain = await ask(url, null, headers);
      const [br, gzip] = [await ask(url, 'gzip, br', headers), await ask(url, 'gzip', headers)];
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(br.headers['content-encoding']).toBe('br');
      expect(gzip.headers['content-encoding']).toBe('gzip');
      expect(brotliDecompressSync(br.rawPayload).equals(plain.rawPayload)).toBe(true);
      expect(gunzipSync(gzip.rawPayload).equals(plain.rawPayload)).toBe(true);
      expect(br.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
      for (const answer of [plain, br, gzip]) {
        expect(answer.headers['etag']).toMatch(/^W\/"/u);
        expect(answer.headers['etag']).toBe(plain.headers['etag']);
        expect(answer.headers['vary']).toContain('accept-encoding');
        expect(answer.headers['access-control-allow-origin']).toBe('*');
        const { length } = answer.rawPayload;
        expect([String(length), undefined]).toContain(answer.headers['content-length']);
      }
    },
  );

  test.each(compressed)('%s is 304 for a client that has it, in any encoding', async (url, headers) => {
    const { headers: first } = await ask(url, 'br', headers);
    const again = await ask(url, 'gzip', {
      ...headers,
      'if-none-match': `"other", ${String(first['etag'])}`,
    });
    expect(again.statusCode).toBe(304);
    expect(again.rawPayload).toHaveLength(0);
    expect(again.headers).toMatchObject({ etag: first['etag'], 'cache-control': 'no-cache' });
    expect(again.headers['content-encoding']).toBeUndefined();
    expect(again.headers['vary']).toContain('accept-encoding');
    const other = await ask(url, 'br', { ...headers, 'if-none-match': 'W/"other"' });
    expect(other.statusCode).toBe(200);
  });

  test('has different tags as a page and as JSON', async () => {
    const page = await ask('/inscriptions', null, html);
    const json = await ask('/inscriptions', null, { accept: 'application/json' });
    expect(page.headers['etag']).not.toBe(json.headers['etag']);
    const asked = await ask('/inscriptions', null, {
      accept: 'application/json',
      'if-none-match': String(page.headers['etag']),
    });
    expect(asked.statusCode).toBe(200);
  });

  test('with an error has no tag', async () => {
    const answer = await ask('/inscription/nothing', 'br', { ...html, 'if-none-match': '*' });
    expect(answer.statusCode).toBe(404);
    expect(answer.headers['etag']).toBeUndefined();
    expect(answer.headers['vary']).toContain('accept-encoding');
  });

  test.each([null, '', 'identity', 'zstd', 'deflate', 'br;q=0, gzip;q=0', 'x'.repeat(2000)])(
    'is sent uncompressed to a client that accepts %j',
    async (encoding) => {
      const answer = await ask('/search?text=row', encoding);
      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(answer.json()).toMatchObject({ status: 'ok' });
    },
  );

  test('that is short is sent uncompressed', async () => {
    const answer = await ask('/health/live', 'br');
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers['vary']).toContain('accept-encoding');
  });

  test('to HEAD has no length, which depends on the encoding', async () => {
    const head = (headers: Record<string, string>) => http.app.inject({ method: 'HEAD', url: '/', headers });
    const answer = await head({ ...html, 'accept-encoding': 'br' });
    expect(answer.rawPayload).toHaveLength(0);
    expect(answer.headers['content-length']).toBeUndefined();
    expect(answer.headers['etag']).toBe((await ask('/', 'br', html)).headers['etag']);
    const plain = await ask('/', null, html);
    expect((await head(html)).headers['content-length']).toBe(String(plain.rawPayload.length));
  });

  test.each(['/content/', '/preview/', '/r/undelegated-content/'])(
    'of %s has the inscribed bytes, with their own encoding',
    async (path) => {
      const page = await ask(path + idOf('page'), 'br, gzip');
      expect(page.headers['content-encoding']).toBeUndefined();
      expect(page.headers['vary'] ?? '').not.toContain('accept-encoding');
      expect(page.headers['etag']).toBe(`"${createHash('sha256').update(longText).digest('hex')}"`);
      expect(page.payload).toBe(longText);
      const stored = await ask(path + idOf('packed'), 'br, gzip');
      expect(stored.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' });
      expect(stored.rawPayload.equals(packed)).toBe(true);
    },
  );

  test('does not decode bodies of requests', async () => {
    const answer = await http.app.inject({
      method: 'POST',
      url: '/search/hashes',
      headers: { 'content-type': 'application/json', 'content-encoding': 'br' },
      payload: brotliCompressSync(JSON.stringify({ hashes: ['0'.repeat(64)] })),
    });
    expect(answer.json()).toMatchObject({ status: 'error' });
  });
});

describe('a stream of events', () => {
  const golden = new GoldenChain('reorg-1');
  const [tip] = golden.tips();
  let http: HttpApp;
  let folder: Awaited<ReturnType<typeof makeDataDir>>;
  let address: string;

  beforeAll(async () => {
    folder = await makeDataDir();
    golden.writeFolder(folder.path);
  });
  afterAll(() => folder.remove());
  beforeEach(async () => {
    http = await createHttpApp([]);
    address = await http.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(() => http.close());

  async function goTo(height: number): Promise<void> {
    const source = await openFolderSource(folder.path, { tip: tip?.tip ?? '' });
    await follow({
      source,
      pool: http.database.pool,
      signal: new AbortController().signal,
      threads: parseThreads(),
      until: asHeight(height),
    });
  }

  function open(headers: Record<string, string>): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get(`${address}/events`, { headers }, resolve).on('error', reject);
    });
  }

  const encodings = [
    ['br', createBrotliDecompress],
    ['gzip', createGunzip],
  ] as const;

  test.each(encodings)('in %s sends each event at once, not with the next one', async (encoding, decoder) => {
    await goTo(110);
    const answer = await open({ accept: 'text/event-stream', 'accept-encoding': encoding });
    expect(answer.headers).toMatchObject({
      'content-encoding': encoding,
      'content-type': 'text/event-stream; charset=utf-8',
    });
    let text = '';
    const decoded = answer.pipe(decoder());
    decoded.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    try {
      await expect.poll(() => text, { timeout: 10_000 }).toContain('retry: ');
      expect(text).not.toContain('data: ');
      // the stream stays open, and no event follows the events of these blocks
      await goTo(120);
      await expect.poll(() => text, { timeout: 10_000 }).toContain('data: ');
    } finally {
      answer.destroy();
    }
  });

  test.each(encodings)('as NDJSON in %s is the same as uncompressed', async (encoding) => {
    await goTo(135);
    const plain = await (
      await fetch(`${address}/events`, { headers: { 'accept-encoding': 'identity' } })
    ).text();
    const answer = await fetch(`${address}/events`, { headers: { 'accept-encoding': encoding } });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(answer.headers.get('vary')).toBe('Accept, accept-encoding');
    expect(await answer.text()).toBe(plain);
    expect(plain.split('\n').length).toBeGreaterThan(100);
  });

  test('ends on the server when its client disconnects', async () => {
    const answer = await open({ accept: 'text/event-stream', 'accept-encoding': 'br' });
    answer.destroy();
    const { app } = http;
    await expect
      .poll(
        () =>
          new Promise((resolve) => {
            app.server.getConnections((_error, count) => resolve(count));
          }),
      )
      .toBe(0);
    expect(http.logged.filter(({ level }) => level === 'error' || level === 50)).toEqual([]);
  });
});
