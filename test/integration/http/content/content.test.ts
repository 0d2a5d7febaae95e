import { createHash } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findContent, readBodyPart } from '#chain/inscriptions/content.queries.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { jpeg, png as pngOf } from '#test/builders/images.ts';
import { idOf, txidOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00, 0x80]);
const packed = brotliCompressSync('<p>packed</p>');
const htmlBomb = brotliCompressSync(Buffer.alloc(100_000_000, '<p>a'));

let http: HttpApp;

beforeAll(async () => {
  http = await createHttpApp([
    {
      height: 0,
      rows: [
        { name: 'text', body: 'plain' },
        { name: 'png', type: 'image/png', body: png },
        { name: 'empty', body: '' },
        { name: 'no body', body: null },
        { name: 'no type', type: null, body: 'x' },
        { name: 'empty type', type: '', body: 'x' },
        { name: 'odd type', type: 'a/b/c', body: 'x' },
        { name: 'word', type: 'text', body: 'x' },
        { name: 'accents', type: 'texte/été', body: 'x' },
        { name: 'not UTF-8', type: Buffer.from([0x74, 0xff]), body: 'x' },
        { name: 'splitting', type: 'text/html\r\nset-cookie: a=b', body: 'x' },
        { name: 'packed', type: 'text/html', body: packed, encoding: 'br' },
        { name: 'packed text', type: 'text/plain', body: packed, encoding: 'br' },
        { name: 'packed nothing', body: null, encoding: 'br' },
        { name: 'odd encoding', body: 'x', encoding: Buffer.from([0xff]) },
        { name: 'line break', body: 'x', encoding: 'br\r\n' },
        { name: 'delegating', body: 'own', type: 'text/own', delegate: idOf('png') },
        { name: 'delegating twice', body: 'own', delegate: idOf('delegating') },
        { name: 'delegating to a missing one', body: 'own', delegate: idOf('missing') },
        { name: 'delegating far', body: 'own', delegate: idOf('png', 4_294_967_295) },
        { name: 'delegating to nothing', body: 'own', delegate: idOf('no body') },
        { name: 'html', type: 'text/html;charset=utf-8', body: '<p>hi</p>' },
        { name: 'svg', type: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
        { name: 'script', type: 'text/plain', body: '<script>alert(1)</script>' },
        { name: 'long', type: 'text/plain', body: 'é'.repeat(50_000) },
        { name: 'mp3', type: 'audio/mpeg', body: 'x' },
        { name: 'mp4', type: 'video/mp4', body: 'x' },
        { name: 'woff2', type: 'font/woff2', body: 'x' },
        { name: 'pdf', type: 'application/pdf', body: 'x' },
        { name: 'picture', type: 'image/png', body: pngOf(20, 10) },
        {
          name: 'packed picture',
          type: 'image/png',
          body: brotliCompressSync(pngOf(20, 10)),
          encoding: 'br',
        },
        { name: 'text bomb', body: brotliCompressSync(Buffer.alloc(100_000_000, 'a')), encoding: 'br' },
        { name: 'html bomb', type: 'text/html', body: htmlBomb, encoding: 'br' },
        { name: 'delegating to a bomb', body: 'own', delegate: idOf('html bomb') },
        {
          name: '5 MB of html',
          type: 'text/html',
          body: brotliCompressSync(Buffer.alloc(5_000_000, 'a')),
          encoding: 'br',
        },
        { name: 'odd html', type: 'text/html', body: deflateSync('x'), encoding: 'deflate' },
        { name: 'broken html', type: 'text/html', body: 'x', encoding: 'zstd' },
        { name: 'broken text', body: 'x', encoding: 'gzip' },
        { name: 'pixel bomb', type: 'image/gif', body: pngOf(50_000, 50_000) },
        {
          name: 'packed picture bomb',
          type: 'image/png',
          body: gzipSync(pngOf(50_000, 50_000)),
          encoding: 'gzip',
        },
        { name: 'late pixel bomb', type: 'image/jpeg', body: jpeg(60_000, 60_000, { profile: 1_000_000 }) },
        { name: 'large picture', type: 'image/png', body: pngOf(8_000, 8_000) },
        { name: 'no picture', type: 'image/png', body: 'this is a text that says that it is a picture' },
      ],
    },
  ]);
});

afterAll(async () => {
  await http.close();
});

const content = async (name: string, headers: Record<string, string> = { 'accept-encoding': 'identity' }) =>
  http.app.inject({ url: `/content/${idOf(name)}`, headers });

describe('GET /content/<id>', () => {
  test('sends the stored bytes and their type, and confines them', async () => {
    const answer = await content('png');
    expect(answer.statusCode).toBe(200);
    expect(answer.rawPayload).toEqual(png);
    // a text inscription may be the script of another inscription, as on ord
    expect(answer.headers).not.toHaveProperty('x-content-type-options');
    expect(answer.headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': '7',
      'cache-control': 'public, max-age=1209600, immutable',
      'access-control-allow-origin': '*',
      'content-security-policy': [
        "default-src 'self' 'unsafe-eval' 'unsafe-inline' data: blob:",
        "default-src *:*/content/ *:*/blockheight *:*/blockhash *:*/blockhash/ *:*/blocktime *:*/r/ 'unsafe-eval' 'unsafe-inline' data: blob:",
        'sandbox allow-scripts',
      ],
      'connection-allowlist': '(response-origin)',
      etag: `"${createHash('sha256').update(png).digest('hex')}"`,
    });
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers.vary).toBeUndefined();
  });

  test.each([
    ['text', 'text/plain;charset=utf-8'],
    ['empty', 'text/plain;charset=utf-8'],
    ['no type', 'application/octet-stream'],
    ['empty type', ''],
    ['odd type', 'a/b/c'],
    ['word', 'text'],
    ['accents', 'texte/Ã©tÃ©'],
    ['not UTF-8', 'application/octet-stream'],
    ['splitting', 'application/octet-stream'],
  ])('of %j has the type %j', async (name, type) => {
    const answer = await content(name);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe(type);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length));
  });

  test('sends an encoded body unchanged to clients that accept it', async () => {
    const answer = await content('packed', { 'accept-encoding': 'gzip, br' });
    expect(answer.rawPayload).toEqual(packed);
    expect(answer.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' });
  });

  test('is 406 for clients that do not accept it', async () => {
    for (const headers of [{ 'accept-encoding': 'identity' }, { 'accept-encoding': 'gzip' }, {}]) {
      const answer = await content('packed', headers as Record<string, string>);
      expect(answer.statusCode).toBe(406);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
        vary: 'Accept-Encoding',
      });
      expect(answer.body).toContain('`br`');
    }
    // the encoding is checked before the missing body is noticed, as in ord
    expect((await content('packed nothing')).statusCode).toBe(406);
    expect((await content('packed nothing', { 'accept-encoding': 'br' })).statusCode).toBe(404);
  });

  test('is 406 for an encoding that is not UTF-8, and drops one that is invalid in a header', async () => {
    expect((await content('odd encoding', {})).statusCode).toBe(406);
    const dropped = await content('line break');
    expect(dropped.statusCode).toBe(200);
    expect(dropped.headers['content-encoding']).toBeUndefined();
    expect(dropped.body).toBe('x');
  });

  test('follows a delegate one level', async () => {
    const answer = await content('delegating');
    expect(answer.rawPayload).toEqual(png);
    expect(answer.headers['content-type']).toBe('image/png');
    const second = await content('delegating twice');
    expect(second.body).toBe('own');
    expect(second.headers['content-type']).toBe('text/own');
  });

  test.each([
    ['no body', 'this inscription has no content\n'],
    ['delegating to a missing one', `delegate ${idOf('missing')} not found\n`],
    ['delegating far', `delegate ${idOf('png', 4_294_967_295)} not found\n`],
    ['delegating to nothing', 'this inscription has no content\n'],
    ['missing', `inscription ${idOf('missing')} not found\n`],
  ])('is 404 for %j', async (name, words) => {
    const answer = await content(name);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toBe(words);
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'access-control-allow-origin': '*' });
    expect(answer.headers.etag).toBeUndefined();
  });

  test.each(['/content/7', '/content/x', `/content/${idOf('text')}x`, '/content/%00'])(
    '%s names no inscription',
    async (url) => {
      const answer = await http.app.inject(url);
      expect(answer.statusCode).toBe(400);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    },
  );

  test('takes ids in upper case', async () => {
    const answer = await http.app.inject(`/content/${idOf('text').toUpperCase().replace('I', 'i')}`);
    expect(answer.body).toBe('plain');
  });

  test('answers 304 and HEAD', async () => {
    const { headers } = await content('png');
    const again = await content('png', { 'if-none-match': headers.etag as string });
    expect(again.statusCode).toBe(304);
    expect(again.body).toBe('');
    const head = await http.app.inject({ method: 'HEAD', url: `/content/${idOf('png')}` });
    expect(head.statusCode).toBe(200);
    expect(head.body).toBe('');
    expect(head.headers).toMatchObject({ 'content-type': 'image/png', 'content-length': '7' });
  });

  test('never reads a body that took the id of another one, as after an undo', async () => {
    const { pool } = http.database;
    const lookup = await findContent(pool, { txid: asTxid(txidOf('png')), index: 0 });
    if (lookup.kind !== 'found' || lookup.content.body === null) throw new Error('it has a body');
    const { body } = lookup.content;
    const part = { from: 1, count: 2 };
    const client = await pool.connect();
    try {
      expect(await readBodyPart(client, body, part)).toEqual(png.subarray(1, 3));
      expect(await readBodyPart(client, body, { from: 0, count: 100 })).toEqual(png);
      expect(await readBodyPart(client, body, { from: 7, count: 100 })).toEqual(Buffer.alloc(0));
      expect(await readBodyPart(client, { ...body, sha256: Buffer.alloc(32) }, part)).toBeNull();
    } finally {
      client.release();
    }
  });
});

describe('GET /content/<id> in parts', () => {
  const part = async (range: string, more: Record<string, string> = {}) => {
    const { statusCode, headers, rawPayload } = await content('png', { range, ...more });
    return [statusCode, headers['content-range'], [...rawPayload]];
  };

  test('sends the requested bytes', async () => {
    expect(await part('bytes=1-3')).toEqual([206, 'bytes 1-3/7', [...png.subarray(1, 4)]]);
    expect(await part('bytes=5-')).toEqual([206, 'bytes 5-6/7', [...png.subarray(5)]]);
    expect(await part('bytes=-2')).toEqual([206, 'bytes 5-6/7', [...png.subarray(5)]]);
    expect(await part('bytes=0-999')).toEqual([206, 'bytes 0-6/7', [...png]]);
    expect((await content('png')).headers['accept-ranges']).toBe('bytes');
  });

  test('sends the whole body for an unclear range, or if the client started with other bytes', async () => {
    for (const range of ['bytes=3-1', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'x']) {
      expect(await part(range)).toEqual([200, undefined, [...png]]);
    }
    const { etag } = (await content('png')).headers;
    expect(await part('bytes=0-0', { 'if-range': '"other"' })).toEqual([200, undefined, [...png]]);
    expect(await part('bytes=0-0', { 'if-range': etag as string })).toEqual([206, 'bytes 0-0/7', [0x89]]);
  });

  test('has ranges only for GET', async () => {
    for (const range of ['bytes=1-3', 'bytes=7-']) {
      const head = await http.app.inject({
        method: 'HEAD',
        url: `/content/${idOf('png')}`,
        headers: { range },
      });
      expect([head.statusCode, head.headers['content-range'], head.headers['content-length']]).toEqual([
        200,
        undefined,
        '7',
      ]);
    }
  });

  test('is 416 after the end', async () => {
    expect(await part('bytes=7-')).toEqual([416, 'bytes */7', []]);
    expect(await part('bytes=-0')).toEqual([416, 'bytes */7', []]);
  });
});

describe('GET /preview/<id>', () => {
  const preview = async (name: string, headers: Record<string, string> = {}) =>
    http.app.inject({ url: `/preview/${idOf(name)}`, headers });

  test.each(['text', 'png', 'script', 'html', 'svg', 'mp3', 'mp4', 'woff2', 'pdf', 'no body', 'delegating'])(
    'of %j has no origin',
    async (name) => {
      const answer = await preview(name);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['content-security-policy']).toContain('sandbox allow-scripts');
    },
  );

  test('of HTML and SVG is the content itself', async () => {
    expect((await preview('html')).body).toBe('<p>hi</p>');
    expect((await preview('svg')).headers['content-type']).toBe('image/svg+xml');
  });

  test('of a text escapes it', async () => {
    const { body } = await preview('script');
    expect(body).toContain('<pre>&lt;script&gt;alert(1)&lt;/script&gt;</pre>');
    expect(body).not.toContain('<script');
  });

  test('of a long text is its beginning, in whole characters', async () => {
    const { body } = await preview('long');
    expect(body).toMatch(/<pre>é{32768}…<\/pre>/u);
  });

  test('of an encoded text is decoded and escaped, for any accepted encodings', async () => {
    for (const accepted of ['br', 'identity']) {
      const answer = await preview('packed text', { 'accept-encoding': accepted });
      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(answer.body).toContain('<pre>&lt;p&gt;packed&lt;/p&gt;</pre>');
    }
  });

  test('of encoded HTML is left to the browser', async () => {
    const answer = await preview('packed', { 'accept-encoding': 'br' });
    expect(answer.headers['content-encoding']).toBe('br');
    expect(answer.rawPayload).toEqual(packed);
  });

  test('of a text bomb is its beginning', async () => {
    const { body } = await preview('text bomb');
    expect(body).toMatch(/<pre>a{65536}…<\/pre>/u);
  });

  test.each([
    ['html bomb', 'full', 'decode to more than 16 MB, so it is not shown here, but at /content/'],
    ['html bomb', 'card', 'decode to more than 16 MB</p>'],
    ['5 MB of html', 'card', 'decode to 5.0 MB</p>'],
    [
      'odd html',
      'full',
      'in an encoding that is not decoded here, so it is not shown here, but at /content/',
    ],
    ['broken html', 'full', 'that do not decode'],
    ['broken text', 'full', 'text/plain that does not decode'],
    ['packed picture bomb', 'full', '50,000 × 50,000 pixels, so it is not shown here, but at /content/'],
    ['pixel bomb', 'full', '50,000 × 50,000 pixels, so it is not shown here, but at /content/'],
    ['pixel bomb', 'card', '50,000 × 50,000 pixels</p>'],
    ['late pixel bomb', 'card', '60,000 × 60,000 pixels</p>'],
    ['large picture', 'card', '8,000 × 8,000 pixels</p>'],
    ['no picture', 'full', 'image/png, so it is not shown here, but at /content/'],
    ['delegating to a bomb', 'card', 'decode to more than 16 MB</p>'],
  ])('of %s (%s) is words', async (name, size, words) => {
    const answer = await http.app.inject({
      url: `/preview/${idOf(name)}?size=${size}`,
      headers: { 'accept-encoding': 'gzip, deflate, br, zstd' },
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-security-policy']).toContain('sandbox allow-scripts');
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.body).toContain(words);
    expect(answer.body).not.toContain('<img');
    // the second time, the result is known
    expect((await http.app.inject(`/preview/${idOf(name)}?size=${size}`)).body).toBe(answer.body);
  });

  test('of a content within the bounds of a page, but not of a card, is shown alone', async () => {
    expect((await preview('large picture')).body).toContain('<img');
    const html = await preview('5 MB of html', { 'accept-encoding': 'br' });
    expect(html.headers['content-encoding']).toBe('br');
  });

  test('in a list does not play by itself', async () => {
    const card = await http.app.inject(`/preview/${idOf('mp4')}?size=card`);
    expect(card.body).toContain('<video muted playsinline preload="metadata"');
    const sound = await http.app.inject(`/preview/${idOf('mp3')}?size=card`);
    expect(sound.body).toContain('preload="none"');
  });

  test('of any other size is refused', async () => {
    expect((await http.app.inject(`/preview/${idOf('mp4')}?size=huge`)).statusCode).toBe(400);
  });

  test('does not change the bytes of /content', async () => {
    const answer = await content('html bomb', { 'accept-encoding': 'br' });
    expect(answer.headers['content-encoding']).toBe('br');
    expect(answer.rawPayload).toEqual(htmlBomb);
  });

  test.each([
    ['picture', '<img src="/content/'],
    ['packed picture', '<img src="/content/'],
    ['mp3', '<audio controls'],
    ['mp4', '<video controls'],
    ['woff2', '@font-face'],
    ['pdf', '<p>application/pdf</p>'],
    ['no body', '<p>no content</p>'],
  ])('of %j is in a page of ours', async (name, part) => {
    expect((await preview(name)).body).toContain(part);
  });

  test('is 404 for an inscription that is not indexed', async () => {
    const answer = await preview('delegating to a missing one');
    expect(answer.statusCode).toBe(404);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toContain(`<p>delegate ${idOf('missing')} not found</p>`);
    expect((await preview('missing')).statusCode).toBe(404);
    expect((await http.app.inject('/preview/x')).statusCode).toBe(400);
  });
});

describe('cross-origin requests', () => {
  test('are allowed for every origin, without credentials', async () => {
    const preflight = await http.app.inject({
      method: 'OPTIONS',
      url: '/search',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key, content-type, accept',
      },
    });
    expect(preflight.statusCode).toBe(204);
    expect(preflight.headers['access-control-allow-origin']).toBe('*');
    expect(preflight.headers['access-control-allow-headers']).toMatch(/x-api-key/iu);
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
    // OPTIONS without a preflight is 204, not an error in the form of a plugin
    const bare = await http.app.inject({ method: 'OPTIONS', url: '/search' });
    expect([bare.statusCode, bare.body]).toEqual([204, '']);
    for (const url of ['/', '/status', '/search?text=a', '/nowhere', `/content/${idOf('png')}`]) {
      const answer = await http.app.inject({ url, headers: { origin: 'null' } });
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });
});
