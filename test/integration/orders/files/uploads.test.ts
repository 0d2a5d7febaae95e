import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { request as ask, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

interface Uploaded {
  readonly url: string;
  readonly s3Key: string;
  readonly size: number;
  readonly sha256: string;
}

let http: OrdersApp;
let key: string;
let port: number;
beforeAll(async () => {
  http = await createOrdersApp();
  key = await newKey();
  await http.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = http.app.server.address() as AddressInfo);
});
afterAll(() => http.close());

const newKey = async (): Promise<string> =>
  (await giveKey(http.database.pool, { scopes: ['orders'], rate: '0' })).key;
const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

const put = (path: string, payload: Buffer | string, headers: Readonly<Record<string, string>> = {}) =>
  http.app.inject({
    method: 'PUT',
    url: `/files/${path}`,
    payload,
    headers: { 'x-api-key': key, ...headers },
  });
async function upload(name: string, content: Buffer | string, headers = {}): Promise<Uploaded> {
  const answer = await put(name, content, headers);
  expect([answer.statusCode, answer.body]).toEqual([200, expect.any(String)]);
  return answer.json();
}
const pathOf = ({ s3Key }: Pick<Uploaded, 's3Key'>): string => `/files/${encodeURIComponent(s3Key)}`;
const isThere = async (name: string): Promise<boolean> =>
  (await readdir(join(http.filesDir, name.slice(0, 2))).catch((): string[] => [])).includes(name);
/** Names of contents that are not complete. */
async function partials(): Promise<string[]> {
  const names = await readdir(http.filesDir, { recursive: true }).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.part'));
}
async function rows(): Promise<number> {
  const { rows: found } = await http.database.pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM service.uploaded_files',
  );
  return found[0]!.count;
}

/** An upload over a connection, whose body the test sends piece by piece. */
function begin(
  headers: Readonly<Record<string, string | number>>,
  name = 'a.txt',
): {
  request: ClientRequest;
  answer: Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>;
} {
  const request = ask({
    port,
    host: '127.0.0.1',
    method: 'PUT',
    path: `/files/${name}`,
    headers: { 'x-api-key': key, ...headers },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  }).then(async (response) => ({
    status: response.statusCode!,
    headers: response.headers,
    body: await text(response),
  }));
  // a client that cuts its connection does not wait for a response
  answer.catch(() => undefined);
  return { request, answer };
}

describe('an upload', () => {
  test('is answered with its key, size and hash, and served as a download', async () => {
    const content = randomBytes(300_000);
    const made = await upload('cube.png', content, { 'content-type': 'image/png' });
    expect(made).toEqual({
      url: `http://localhost:80/files/${made.s3Key}`,
      s3Key: expect.stringMatching(/^[0-9a-f-]{36}_cube\.png$/u) as string,
      size: 300_000,
      sha256: sha256(content),
    });
    expect(await isThere(made.sha256)).toBe(true);
    expect(await partials()).toEqual([]);
    for (const method of ['GET', 'HEAD'] as const) {
      const read = await http.app.inject({ method, url: pathOf(made) });
      expect(read.statusCode).toBe(200);
      expect(read.headers).toMatchObject({
        'content-type': 'image/png',
        'content-length': '300000',
        'content-disposition': `attachment; filename="${made.s3Key}"`,
        'content-security-policy': "default-src 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, max-age=3600',
      });
      expect(read.rawPayload.equals(method === 'GET' ? content : Buffer.alloc(0))).toBe(true);
    }
  });

  test.for([
    ['a.html', 'Text/HTML; charset="utf-8"', 'Text/HTML; charset="utf-8"'],
    ['a.txt', 'application/json', 'application/json'],
    ['a.svg', undefined, 'image/svg+xml'],
    ['a.svg', 'application/octet-stream', 'image/svg+xml'],
    ['a.svg', 'application/x-www-form-urlencoded', 'image/svg+xml'],
    ['a.svg', 'picture', 'image/svg+xml'],
    ['a.svg', 'image/png; charset', 'image/svg+xml'],
    ['without', undefined, 'application/octet-stream'],
    ['a.exe', 'application/octet-stream', 'application/octet-stream'],
  ] as const)('of %s with the type %s is served as %s', async ([name, type, served]) => {
    const made = await upload(name, 'text', type === undefined ? {} : { 'content-type': type });
    expect((await http.app.inject({ url: pathOf(made) })).headers['content-type']).toBe(served);
  });

  test.for([
    ['leads out of a folder', '..%2F..%2Fetc%2Fpasswd', '.._.._etc_passwd'],
    ['leads out with backslashes', '%2E%2E%5Cx.txt', '.._x.txt'],
    ['ends a header', 'a%20b%22;%0D%0Ax.html', 'a_b____x.html'],
    ['is not ASCII', '%F0%9F%9F%A7%C3%BC.png', '__.png'],
    ['turns its direction', '%E2%80%AEgpj.html', '_gpj.html'],
    ['has 400 characters', `${'n'.repeat(396)}.png`, `${'n'.repeat(196)}.png`],
  ] as const)('whose name %s keeps the end of it in safe characters', async ([content, name, shown]) => {
    const made = await upload(name, content);
    expect(made.s3Key.slice(37)).toBe(shown);
    expect(made.url.endsWith(`/files/${made.s3Key}`)).toBe(true);
    expect((await http.app.inject({ url: new URL(made.url).pathname })).body).toBe(content);
    expect(await isThere(made.sha256)).toBe(true);
  });

  test.for([
    ['has a NUL', 'a%00.txt', 400, 'the name has a NUL character (U+0000)'],
    ['has 401 characters', 'a'.repeat(401), 400, 'the name has more than 400 characters'],
    ['is not UTF-8', '%ED%A0%80.txt', 400, 'the path is not percent-encoded UTF-8'],
    ['is two parts of a path', 'a/b.txt', 404, null],
  ] as const)('whose name %s is refused', async ([, name, status, error]) => {
    const before = await rows();
    const answer = await put(name, 'text');
    expect(answer.statusCode).toBe(status);
    if (error !== null) expect(answer.json()).toMatchObject({ status: 'error', error });
    expect(await rows()).toBe(before);
    expect(await partials()).toEqual([]);
  });

  test('without bytes is refused, with a type and without one', async () => {
    for (const headers of [{}, { 'content-type': 'image/png' }, { 'transfer-encoding': 'chunked' }]) {
      const answer = await put('a.png', '', headers);
      expect([answer.statusCode, answer.json()]).toMatchObject([400, { code: 'request_invalid' }]);
      expect(answer.body).toMatch(/empty|missing/u);
    }
    expect(await partials()).toEqual([]);
  });

  test('needs a key, with the scope of orders', async () => {
    const before = await rows();
    const none = await http.app.inject({ method: 'PUT', url: '/files/a.txt', payload: 'text' });
    expect([none.statusCode, none.json<{ code: string }>().code]).toEqual([401, 'key_missing']);
    const { key: searcher } = await giveKey(http.database.pool, { scopes: ['search'] });
    const other = await put('a.txt', 'text', { 'x-api-key': searcher });
    expect([other.statusCode, other.json<{ code: string }>().code]).toEqual([403, 'key_scope']);
    expect(await rows()).toBe(before);
  });

  test('may come from a page of another origin', async () => {
    const headers = { origin: 'https://example.com', 'access-control-request-method': 'PUT' };
    const answer = await http.app.inject({ method: 'OPTIONS', url: '/files/a.txt', headers });
    expect(answer.headers['access-control-allow-methods']).toContain('PUT');
    expect((await put('a.txt', 'text', headers)).headers['access-control-allow-origin']).toBe('*');
  });

  test('of the same bytes has another key and the same hash; with an Idempotency-Key the first answer', async () => {
    const [first, second] = [await upload('same.txt', 'same'), await upload('other.html', 'same')];
    expect(second.sha256).toBe(first.sha256);
    expect(second.s3Key).not.toBe(first.s3Key);
    for (const made of [first, second])
      expect((await http.app.inject({ url: pathOf(made) })).body).toBe('same');
    const once = { 'idempotency-key': 'once' };
    const third = await upload('same.txt', 'same', once);
    expect(await upload('same.txt', 'same', once)).toEqual(third);
    for (const [name, content] of [
      ['other.txt', 'same'],
      ['same.txt', 'changed'],
    ] as const)
      expect((await put(name, content, once)).statusCode).toBe(422);
    expect(await partials()).toEqual([]);
    expect(await isThere(sha256('changed'))).toBe(false);
  });
});

describe('bounds of uploads', () => {
  test('a file that is too long by its header is refused before its first byte', async () => {
    const { request, answer } = begin({ 'content-length': 4_000_001, expect: '100-continue' });
    let isContinued = false;
    request.once('continue', () => (isContinued = true)).flushHeaders();
    expect(await answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
    expect(isContinued).toBe(false);
    request.destroy();
  });

  test('a file that is too long in chunks is refused, and none of its bytes stay', async () => {
    const { request, answer } = begin({ 'transfer-encoding': 'chunked' });
    for (let chunk = 0; chunk < 5; chunk++) request.write(Buffer.alloc(1_000_000));
    expect((await answer).status).toBe(413);
    request.destroy();
    await waitUntil(async () => (await partials()).length === 0);
  });

  test('the longest file is accepted', async () => {
    const content = randomBytes(4_000_000);
    for (const headers of [{ 'content-length': content.length }, { 'transfer-encoding': 'chunked' }]) {
      const { request, answer } = begin(headers);
      request.end(content);
      const { status, body } = await answer;
      expect([status, JSON.parse(body)]).toMatchObject([200, { size: 4_000_000, sha256: sha256(content) }]);
    }
  });

  test('a client that expects 100-continue gets it once its file may come', async () => {
    const content = randomBytes(2_000_000);
    const { request, answer } = begin({ 'content-length': content.length, expect: '100-continue' });
    request.once('continue', () => request.end(content)).flushHeaders();
    const { status, body } = await answer;
    expect([status, JSON.parse(body)]).toMatchObject([200, { sha256: sha256(content) }]);
  });

  test('a body that stops halfway leaves nothing, and does not count', async () => {
    const usual = key;
    key = await newKey();
    try {
      const before = await rows();
      for (let time = 0; time < 12; time++) {
        const { request } = begin({ 'content-length': 3_000_000 });
        request.on('error', () => undefined).write(Buffer.alloc(500_000));
        await waitUntil(async () => (await partials()).length === 1);
        request.destroy();
        await waitUntil(async () => (await partials()).length === 0);
      }
      expect(await rows()).toBe(before);
      expect((await put('a.txt', 'text')).statusCode).toBe(200);
    } finally {
      key = usual;
    }
  });

  test('a key uploads no more in a day than its bound, and another key has its own', async () => {
    const usual = key;
    key = await newKey();
    try {
      // the bound is 20 MB, and each file counts 4,096 bytes more
      for (let time = 0; time < 4; time++) await upload('a.txt', randomBytes(4_000_000));
      const before = await rows();
      const { request, answer } = begin({ 'content-length': 4_000_000, expect: '100-continue' });
      request.flushHeaders();
      const refused = await answer;
      expect([refused.status, JSON.parse(refused.body)]).toMatchObject([429, { code: 'rate_limited' }]);
      expect(refused.body).toContain('for one key in a day');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      request.destroy();
      const chunked = begin({ 'transfer-encoding': 'chunked' });
      chunked.request.end(Buffer.alloc(3_999_999));
      expect((await chunked.answer).status).toBe(429);
      expect(await rows()).toBe(before);
      expect(await partials()).toEqual([]);
      // refused bytes do not count
      await upload('a.txt', randomBytes(3_900_000));
    } finally {
      key = usual;
    }
    await upload('a.txt', 'text');
  });

  test('a client has eight uploads at once', async () => {
    const open = Array.from({ length: 8 }, () => begin({ 'content-length': 100 }));
    for (const { request } of open) request.on('error', () => undefined).write('a');
    await waitUntil(async () => (await partials()).length === 8);
    const ninth = begin({ 'content-length': 4 });
    ninth.request.end('text');
    expect((await ninth.answer).status).toBe(429);
    for (const { request } of open) request.destroy();
    await waitUntil(async () => (await partials()).length === 0);
    await upload('a.txt', 'text');
  });

  test('without room on the disk no file is taken', async () => {
    const spy = vi.spyOn(CustomerFiles.prototype, 'freeBytes').mockResolvedValue(1_000_000_000);
    try {
      const answer = await put('a.txt', 'text');
      expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([503, 'orders_off']);
    } finally {
      spy.mockRestore();
    }
  });
});
