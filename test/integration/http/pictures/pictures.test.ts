import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const art = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#00ff00' } })
  .png()
  .toBuffer();

let root: string;
let http: HttpApp;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-pictures-'));
  http = await createHttpApp(
    [
      {
        height: 0,
        rows: [
          { name: 'picture', type: 'image/png', body: art },
          { name: 'text', body: 'a text' },
          {
            name: 'gallery',
            type: '<b>&"\u202e\u0301',
            properties: `{"gallery":[{"id":"${idOf('picture')}"}],"attributes":{"title":"<b>Évil & \\"漢字\\"","traits":{}}}`,
          },
        ],
      },
    ],
    { sources: { thumbnailsFolder: join(root, 'thumbnails') } },
  );
});
afterAll(async () => {
  await http.close();
  await rm(root, { recursive: true, force: true });
});

const get = (url: string, headers: Record<string, string> = {}) => http.app.inject({ url, headers });

/** The share of green in the right half, which has the art. */
async function greenOf(png: Buffer): Promise<number> {
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  let green = 0;
  for (let at = 0; at < data.length; at += info.channels)
    if (data[at]! < 60 && data[at + 1]! > 200 && data[at + 2]! < 60) green++;
  return green / (info.width * info.height);
}

describe('the picture of a shared page', () => {
  test.each([
    '/og/site.png',
    '/og/block/0.png',
    `/og/inscription/${idOf('text')}.png`,
    '/og/inscription/0.png',
  ])('is a PNG in the size that sites show: %s', async (url) => {
    const answer = await get(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('image/png');
    const { format, width, height } = await sharp(answer.rawPayload).metadata();
    expect({ format, width, height }).toEqual({ format: 'png', width: 1200, height: 630 });
    expect(answer.rawPayload.length).toBeLessThan(150_000);
    const kept = { 'if-none-match': String(answer.headers['etag']) };
    expect((await get(url, kept)).statusCode).toBe(304);
  });

  test('shows the art of an inscription, and is drawn once', async () => {
    const url = `/og/inscription/${idOf('picture')}.png`;
    const first = await get(url);
    expect(await greenOf(first.rawPayload)).toBeGreaterThan(0.2);
    expect(await greenOf((await get('/og/site.png')).rawPayload)).toBe(0);
    const kept = async (): Promise<number> =>
      (await readdir(join(root, 'thumbnails-shared'), { recursive: true })).filter((name) =>
        name.endsWith('.picture'),
      ).length;
    const count = await kept();
    expect((await get(url)).rawPayload.equals(first.rawPayload)).toBe(true);
    expect(await kept()).toBe(count);
  });

  test('draws names of strangers as texts', async () => {
    for (const url of [`/og/inscription/${idOf('gallery')}.png`, `/og/inscription/2.png`])
      expect((await get(url)).statusCode).toBe(200);
  });

  test.each([
    ['/og/block/9.png', 404],
    ['/og/inscription/X.png', 400],
    [`/og/inscription/${'ab'.repeat(32)}i0.png`, 404],
    ['/og/block/0.jpeg', 400],
    ['/og/rune/A.png', 404],
    ['/og/other/0.png', 400],
    ['/og/collection/none.png', 404],
    ['/og/none', 404],
  ])('%s is %i', async (url, status) => {
    expect((await get(url)).statusCode).toBe(status);
  });
});

describe('the head of a page', () => {
  const html = { accept: 'text/html' };
  const metaOf = (body: string, name: string): string | undefined =>
    new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)">`, 'u').exec(body)?.[1];

  test('names its picture, its title and its description', async () => {
    const { body } = await get('/block/0', { ...html, host: 'satscribe.test' });
    expect(metaOf(body, 'og:image')).toBe('http://satscribe.test/og/block/0.png');
    expect(metaOf(body, 'og:title')).toBe(/<title>([^<]*)/u.exec(body)?.[1]);
    expect(metaOf(body, 'description')).toBe(metaOf(body, 'og:description'));
    expect(metaOf(body, 'twitter:card')).toBe('summary_large_image');
    expect(body).not.toContain('sharing');
    expect((await get(new URL(metaOf(body, 'og:image')!).pathname)).statusCode).toBe(200);
  });

  test.each([
    ['/blocks', '/blocks.atom'],
    [
      '/?text=a%26b&in=metadata&words=1&page=1&contentType=',
      '/search.atom?text=a%26b&amp;in=metadata&amp;words=1',
    ],
  ])('names the feed of %s', async (url, feed) => {
    const { body } = await get(url, html);
    const [, href] = /<link rel="alternate" type="application\/atom\+xml" href="([^"]*)"/u.exec(body) ?? [];
    expect(href).toBe(feed);
    expect((await get(feed.replaceAll('&amp;', '&'))).statusCode).toBe(200);
  });

  test('does not repeat the request on an error page, and accepts odd hosts', async () => {
    const { body } = await get('/block/77', { ...html, host: 'satscribe.test' });
    expect(metaOf(body, 'og:image')).toBe('http://satscribe.test/og/site.png');
    const odd = await get('/', { ...html, host: '"><script>' });
    expect(odd.statusCode).toBe(200);
    expect(metaOf(odd.body, 'og:image')).toBe('/og/site.png');
  });

  test('names existing icons and a manifest', async () => {
    const { body } = await get('/', html);
    expect(body).toContain('<link rel="manifest" href="/manifest.webmanifest">');
    const manifest = await get('/manifest.webmanifest');
    expect(manifest.headers['content-type']).toBe('application/manifest+json; charset=utf-8');
    const { icons } = manifest.json<{ icons: { src: string; sizes: string; type: string }[] }>();
    const touch = /<link rel="apple-touch-icon" href="([^"]*)">/u.exec(body)?.[1] ?? '';
    for (const { src, sizes, type } of [...icons, { src: touch, sizes: '180x180', type: 'image/png' }]) {
      const answer = await get(src);
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, type]);
      if (type !== 'image/png') continue;
      const { width, height } = await sharp(answer.rawPayload).metadata();
      expect(`${width}x${height}`).toBe(sizes);
    }
  });
});
