import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

let http: HttpApp;
let port: number;

beforeAll(async () => {
  http = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'hello' }] }]);
  port = Number(new URL(await http.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(async () => {
  await http.close();
});

/** The server's response to bytes. Reads until the server closes the connection. */
async function exchange(bytes: string | Buffer): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  return { status: Number(head.split(' ', 2)[1]), head: head.toLowerCase(), body };
}

const request = (path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${more}\r\n`;

describe('on the wire', () => {
  test('20 kB in the URL are answered in the documented form', async () => {
    const { status, body } = await exchange(request(`/search?text=${'x'.repeat(20_000)}`));
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      status: 'error',
      error: expect.stringContaining('longer than 1000 characters') as string,
    });
    const found = await exchange(request(`/search?text=hello&ignored=${'x'.repeat(20_000)}`));
    expect(JSON.parse(found.body)).toMatchObject({ status: 'ok', totalItems: 1 });
  });

  test('more than the limit in the URL is answered in the documented form', async () => {
    const { status, body } = await exchange(request(`/search?text=${'x'.repeat(50_000)}`));
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ status: 'error', error: 'the URL is longer than 32768 bytes' });
  });

  test.each([
    ['a URL', request(`/search?text=${'x'.repeat(100_000)}`)],
    ['a header', request('/search?text=a', `X-Much: ${'x'.repeat(100_000)}\r\n`)],
    ['many headers', request('/search?text=a', `X-Much: ${'x'.repeat(1_000)}\r\n`.repeat(100))],
  ])('%s beyond the limit is 431 with an error and CORS', async (_name, bytes) => {
    const { status, head, body } = await exchange(bytes);
    expect(status).toBe(431);
    expect(head).toContain('access-control-allow-origin: *');
    expect(head).toContain('content-type: application/json');
    expect(JSON.parse(body)).toEqual({ status: 'error', error: 'the URL and headers are too large' });
  });

  test.each([
    ['nonsense', 'hello there\r\n\r\n'],
    ['a bad version', 'GET / HTTP/9.9\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n'],
    [
      'two lengths',
      'POST /search/hashes HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
    ],
    [
      'a length and chunks',
      'POST /search/hashes HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a space in the URL', 'GET /search?text=a b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['TLS', Buffer.from('1603010200010001fc0303', 'hex')],
  ])('%s is 400 with an error', async (_name, bytes) => {
    const { status, head, body } = await exchange(bytes);
    expect(status).toBe(400);
    expect(head).toContain('connection: close');
    expect(JSON.parse(body)).toEqual({ status: 'error', error: expect.any(String) as string });
  });

  test.each([
    ['host', 'localhost', 'Host: other.example'],
    ['host', 'a', 'Host: localhost'],
    ['x-api-key', 'localhost', 'X-API-Key: a\r\nx-api-key: a'],
    ['authorization', 'localhost', 'Authorization: Bearer a\r\nAuthorization: Bearer b'],
    ['content-type', 'localhost', 'Content-Type: text/plain\r\nContent-Type: application/json'],
    ['idempotency-key', 'localhost', 'Idempotency-Key: a\r\nIdempotency-Key: b'],
    ['origin', 'localhost', 'Origin: https://a.example\r\nOrigin: https://b.example'],
    ['last-event-id', 'localhost', 'Last-Event-ID: 1\r\nLast-Event-ID: 2'],
  ])('two headers %s are 400 on every path', async (name, host, more) => {
    const error = `the header ${name} is sent more than once, but only one is allowed`;
    for (const path of ['/search?text=hello', '/status', '/nothing', '/events/stream', '/health/live']) {
      const { status, head, body } = await exchange(
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n\r\n`,
      );
      expect([path, status, JSON.parse(body)]).toEqual([
        path,
        400,
        expect.objectContaining({ status: 'error', error }),
      ]);
      expect(head).toContain('access-control-allow-origin: *');
    }
  });

  test('raw bytes beyond ASCII in the URL are answered', async () => {
    const { status, body } = await exchange(Buffer.from(request('/search?text=\u00ff\u00fe'), 'latin1'));
    expect([200, 400]).toContain(status);
    expect(JSON.parse(body)).toHaveProperty('status');
  });

  test('list headers far longer than those of any client count as not sent', async () => {
    const commas = ','.repeat(2_000);
    const ask = (url: string, headers: Record<string, string>) => http.app.inject({ url, headers });
    const { headers, payload } = await ask('/', { accept: 'text/html' });
    const tag = String(headers['etag']);
    const known = await ask('/', { 'if-none-match': tag });
    expect(known.statusCode).toBe(304);
    const long = {
      'if-none-match': tag + commas,
      'accept-encoding': `br${commas}`,
      range: `bytes=0-0${commas}`,
    };
    const whole = await ask('/', long);
    expect([whole.statusCode, whole.payload]).toEqual([200, payload]);
    expect(whole.headers['content-encoding']).toBeUndefined();
    const asset = await ask('/docs/static/index.css', long);
    expect([asset.statusCode, asset.headers['content-encoding']]).toEqual([200, undefined]);
    // the error for an undecodable path is made before any hook
    for (const url of ['/nothing', '/%ff']) {
      const page = await ask(url, { accept: 'text/html' });
      const text = await ask(url, { accept: `text/html${commas}` });
      const types = [page, text].map((answer) => answer.headers['content-type']);
      expect(types).toEqual(['text/html; charset=utf-8', 'application/json; charset=utf-8']);
    }
  });

  test('timeouts and sizes are set on purpose', () => {
    const { server } = http.app;
    expect(server.headersTimeout).toBe(15_000);
    // this property is not in Node's types; it is the interval of checks of the two time limits
    expect(server).toHaveProperty('connectionsCheckingInterval', 5_000);
    expect(server.requestTimeout).toBe(600_000);
    expect(server.timeout).toBe(60_000);
    expect(server.keepAliveTimeout).toBe(72_000);
    // this includes connections that are refused or being closed
    expect(server.maxConnections).toBe(2_100);
  });

  test('content types are sent as they are stored', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/health/live`);
    expect(await answer.json()).toEqual({ status: 'ok' });
  });
});
