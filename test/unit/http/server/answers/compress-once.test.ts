import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';
import { addresses } from '#web/assets.ts';

const text = 'a line of a file\n'.repeat(10_000);

let app: App;
/** Number of streams of the file that were read to their end. */
let read = 0;

beforeAll(async () => {
  app = createRoutesApp();
  app.get('/assets/made.css', async (_request, reply) => {
    const stream = Readable.from([Buffer.from(text)]);
    stream.once('end', () => read++);
    return reply.type('text/css; charset=utf-8').send(stream);
  });
  await app.ready();
});
afterAll(() => app.close());

const ask = (url: string, encoding: string) => app.inject({ url, headers: { 'accept-encoding': encoding } });

test('a fixed file is compressed once for each encoding, and is the same for all', async () => {
  const all = await Promise.all([1, 2, 3].map(() => ask('/assets/made.css', 'gzip, br')));
  all.push(await ask('/assets/made.css?v=1', 'br'));
  for (const answer of all) {
    expect(answer.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' });
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length));
    expect(brotliDecompressSync(answer.rawPayload).toString()).toBe(text);
  }
  expect(read).toBe(1);
  const zipped = await ask('/assets/made.css', 'gzip');
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(text);
  await ask('/assets/made.css', 'gzip;q=1, br;q=0.1');
  expect(read).toBe(2);
});

test('other ways to write its path use the same entry', async () => {
  await ask('/assets/made.css', 'br');
  const before = read;
  await ask('/assets/made.css?other', 'br');
  await ask('/assets/%6dade.css', 'br');
  expect(read).toBe(before);
});

test('a part of a file, an unchanged file, and a missing one are not compressed', async () => {
  const ofReference = '/docs/static/swagger-ui.css';
  const part = await app.inject({
    url: ofReference,
    headers: { 'accept-encoding': 'br', range: 'bytes=0-9' },
  });
  expect(part).toMatchObject({
    statusCode: 206,
    payload: (await app.inject({ url: ofReference })).payload.slice(0, 10),
  });
  expect(part.headers['content-encoding']).toBeUndefined();
  const plain = await app.inject({ url: addresses.style });
  const etag = String(plain.headers['etag']);
  const known = await app.inject({
    url: addresses.style,
    headers: { 'accept-encoding': 'br', 'if-none-match': etag },
  });
  expect(known).toMatchObject({ statusCode: 304, payload: '' });
  const none = await ask('/assets/none.css', 'br');
  expect(none.statusCode).toBe(404);
  const packed = await ask(addresses.style, 'br');
  expect(packed.headers['etag']).toBe(etag);
  expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(plain.payload);
});

test.each(['/openapi.json', '/openapi.yaml'])('%s is the same compressed', async (url) => {
  const plain = await app.inject({ url });
  const packed = await ask(url, 'br');
  expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(plain.payload);
  expect(packed.headers['etag']).toBe(plain.headers['etag']);
});
