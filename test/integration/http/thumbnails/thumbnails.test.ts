import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { LightMyRequestResponse } from 'fastify';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gif, jpeg, png } from '#test/builders/images.ts';
import { idOf, txidOf } from '#test/support/chain/rows/chain-rows.ts';
import { pendingRows, setPending } from '#test/support/chain/rows/pending-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { text } from '#test/support/search/search-rows.ts';

let http: HttpApp;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'thumbnails-'));
  const red = sharp({ create: { width: 900, height: 300, channels: 4, background: '#ff0000' } });
  const pixels = sharp({ create: { width: 24, height: 24, channels: 3, background: '#00ff00' } });
  const redPng = await red.clone().png().toBuffer();
  const image = (name: string, body: Buffer, type = 'image/png') => ({ name, type, body });
  http = await createHttpApp(
    [
      {
        height: 0,
        rows: [
          image('png', redPng),
          image('png again', redPng),
          image('jpeg', await red.clone().jpeg().toBuffer(), 'image/jpeg'),
          image('webp', await red.clone().webp().toBuffer(), 'image/webp'),
          image('avif', await red.clone().avif({ effort: 0 }).toBuffer(), 'image/avif'),
          image('gif', await red.clone().gif().toBuffer(), 'image/gif'),
          image('mistyped', redPng, 'image/webp'),
          image('pixels', await pixels.png().toBuffer()),
          { ...image('packed', brotliCompressSync(redPng)), encoding: 'br' },
          { ...image('zipped', gzipSync(redPng)), encoding: 'gzip' },
          { ...image('odd encoding', redPng), encoding: 'compress' },
          { ...image('bomb', brotliCompressSync(Buffer.alloc(100_000_000))), encoding: 'br' },
          { name: 'delegating', body: 'own', delegate: idOf('png') },
          { name: 'delegating to a missing one', body: 'own', delegate: idOf('missing') },
          image('svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'),
          image('hidden svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')),
          image('drawing', svg(`<rect width="9" height="9" fill="red"/>`), 'image/svg+xml;charset=utf-8'),
          image(
            'large drawing',
            svg(`<rect width="9" height="9" fill="red"/>`, 'width="90000" height="90000"'),
            'image/svg+xml',
          ),
          image('half a drawing', svg(`<rect width="4" height="9" fill="red"/>`), 'image/svg+xml'),
          image('layers', svg(layers('png', 'pixels')), 'image/svg+xml'),
          image('layers of the unknown', svg(layers('unknown')), 'image/svg+xml'),
          image('layers of html', svg(layers('html')), 'image/svg+xml'),
          image('scripted', svg(`<script>x</script><rect width="9" height="9"/>`), 'image/svg+xml'),
          image('zipped svg', gzipSync(svg(`<rect width="9" height="9"/>`)), 'image/svg+xml'),
          image('html', Buffer.from('<p>'), 'text/html'),
          image('video', Buffer.from('x'), 'video/mp4'),
          { name: 'nothing', type: 'image/png', body: null },
          image('empty', Buffer.alloc(0)),
          image('truncated', redPng.subarray(0, redPng.length / 2)),
          image('noise', randomBytes(5000)),
          image('header alone', jpeg(20, 20), 'image/jpeg'),
          image('claims much', png(60_000, 60_000)),
          image('a line of a billion', png(1_000_000_000, 1)),
          image('50 million pixels', png(10_000, 5_000, { rows: 5_000 })),
          image('frames', manyFrames(100_000), 'image/gif'),
          image('one for all', await sharp(randomPixels(500)).png().toBuffer()),
        ],
      },
    ],
    { sources: { thumbnailsFolder: folder } },
  );
});
afterAll(async () => {
  await http.close();
  await rm(folder, { recursive: true });
});

const svg = (shapes: string, size = ''): Buffer =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" ${size}>${shapes}</svg>`);

/** An SVG with images of other inscriptions on top of each other. */
const layers = (...names: string[]): string =>
  names.map((name) => `<image href="/content/${idOf(name)}" width="9" height="9"/>`).join('');

/** A GIF with frames of one pixel, one after another. */
function manyFrames(count: number): Buffer {
  const whole = gif(1, 1);
  const frameAt = whole.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
  const frame = whole.subarray(frameAt, -1);
  return Buffer.concat([
    whole.subarray(0, frameAt),
    ...Array.from({ length: count }, () => frame),
    whole.subarray(-1),
  ]);
}

const randomPixels = (edge: number) => ({
  create: {
    width: edge,
    height: edge,
    channels: 3 as const,
    background: '#000',
    noise: { type: 'gaussian' as const, mean: 128, sigma: 30 },
  },
});

const get = async (
  name: string,
  headers: Record<string, string> = {},
  form = 'jpeg',
): Promise<LightMyRequestResponse> => http.app.inject({ url: `/thumbnails/${idOf(name)}.${form}`, headers });

const week = 'public, max-age=1209600, immutable';

/** The colour in the middle of an image, and the image's size. */
async function seen(answer: LightMyRequestResponse): Promise<object> {
  const { data, info } = await sharp(answer.rawPayload).raw().toBuffer({ resolveWithObject: true });
  const at = (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2)) * info.channels;
  const level = (value = 0): number => Math.round(value / 16) * 16;
  return { size: [info.width, info.height], colour: [...data.subarray(at, at + 3)].map(level) };
}

describe('thumbnails', () => {
  test.each(['png', 'jpeg', 'webp', 'avif', 'gif', 'mistyped', 'packed', 'zipped', 'delegating'])(
    'show a picture within 400 × 400: %s',
    async (name) => {
      const answer = await get(name);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-type': 'image/jpeg',
        'cache-control': week,
        'x-content-type-options': 'nosniff',
      });
      expect(await seen(answer)).toEqual({ size: [400, 133], colour: [256, 0, 0] });
    },
  );

  test('enlarge small pictures, in whole pixels', async () => {
    expect(await seen(await get('pixels'))).toEqual({ size: [384, 384], colour: [0, 256, 0] });
  });

  test.each(['drawing', 'large drawing', 'half a drawing'])('draw SVG: %s', async (name) => {
    expect(await seen(await get(name))).toMatchObject({
      size: [400, 400],
      colour: name === 'half a drawing' ? [256, 256, 256] : [256, 0, 0],
    });
  });

  test('show the other inscriptions that an SVG uses', async () => {
    // the picture below is visible in a strip in the middle
    expect(await seen(await get('layers'))).toEqual({ size: [400, 400], colour: [0, 256, 0] });
    const unknown = await get('layers of the unknown');
    expect([unknown.headers.etag, unknown.headers['cache-control']]).toEqual([
      '"none"',
      'public, max-age=600',
    ]);
    expect((await get('layers of html')).headers.etag).toBe('"inscriptions"');
    expect((await get('scripted')).headers.etag).toBe('"scripts"');
  });

  test('keep transparency as WebP', async () => {
    const answer = await get('half a drawing', {}, 'webp');
    expect(answer.headers['content-type']).toBe('image/webp');
    const { channels, isOpaque } = await sharp(answer.rawPayload).stats();
    expect([channels.length, isOpaque]).toEqual([4, false]);
    expect((await get('half a drawing')).headers.etag).not.toBe(answer.headers.etag);
    expect(await seen(await get('png', {}, 'webp'))).toMatchObject({ size: [400, 133], colour: [256, 0, 0] });
    const tags = ['svg', 'scripted', 'layers of html'].map(
      async (name) => (await get(name, {}, 'webp')).headers.etag,
    );
    expect(await Promise.all(tags)).toEqual(['"none"', '"scripts"', '"inscriptions"']);
  });

  test('are unchanged while their content is', async () => {
    const { etag } = (await get('png')).headers;
    expect((await get('delegating')).headers.etag).toBe(etag);
    const again = await get('png again', { 'if-none-match': String(etag) });
    expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0]);
  });

  test.each([
    'svg',
    'hidden svg',
    'html',
    'video',
    'nothing',
    'empty',
    'truncated',
    'noise',
    'header alone',
    'claims much',
    'a line of a billion',
    'odd encoding',
    'bomb',
    'zipped svg',
  ])('are a permanent placeholder if there is no picture: %s', async (name) => {
    const answer = await get(name);
    expect([answer.statusCode, answer.headers['cache-control'], answer.headers.etag]).toEqual([
      200,
      week,
      '"none"',
    ]);
    expect(await seen(answer)).toMatchObject({ size: [400, 400] });
  });

  test('show the first of many frames, and the largest decoded image', async () => {
    expect((await get('frames')).headers.etag).not.toBe('"none"');
    expect(await seen(await get('50 million pixels'))).toMatchObject({ size: [400, 200] });
  });

  test('are a short-lived placeholder if the content may still come', async () => {
    const answer = await get('delegating to a missing one');
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, 'public, max-age=10']);
  });

  test('of pending inscriptions show their contents', async () => {
    const inscription = { content: { ...text('pending'), type: 'image/svg+xml' }, metadata: null };
    await setPending(http.database.pool, [pendingRows(txidOf('pending'), 1, inscription)]);
    const answer = await get('pending');
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control']).toContain('immutable');
  });

  test('of unknown inscriptions are 404, and other names 400, in our form', async () => {
    const unknown = await get('unknown');
    expect([unknown.statusCode, unknown.json<{ code: string }>().code]).toEqual([404, 'not_found']);
    for (const file of [idOf('png'), `${idOf('png')}.png`, 'x.jpeg', '..%2f..%2fetc%2fpasswd.jpeg']) {
      const answer = await http.app.inject({ url: `/thumbnails/${file}` });
      expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, 'request_invalid']);
    }
    expect((await http.app.inject({ url: '/thumbnails' })).statusCode).toBe(404);
  });

  test('are drawn once for all requests at the same time, and kept', async () => {
    const drawn = async (): Promise<string | undefined> => {
      const { payload } = await http.app.inject({ url: '/metrics' });
      return /satscribe_thumbnails_drawn\{result="tried"\} (\d+)/u.exec(payload)?.[1];
    };
    const before = Number(await drawn());
    const answers = await Promise.all(Array.from({ length: 30 }, async () => get('one for all')));
    expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([200]));
    expect(Number(await drawn())).toBe(before + 1);
    expect(
      (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.picture')),
    ).not.toEqual([]);
  });
});
