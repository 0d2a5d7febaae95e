import type { lookup as lookUp } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { OutgoingHttp, type OutgoingOptions } from '#outgoing/outgoing-http.ts';

const bounds = { bytesMax: 1_000, timeoutMs: 10_000 };
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function serverFor(answer: RequestListener): Promise<{ url: string; port: number; asked: string[] }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, asked };
}

function client(options: OutgoingOptions = {}): OutgoingHttp {
  const http = new OutgoingHttp(options);
  opened.push(http);
  return http;
}

/** A resolver that gives each question the next answer, and the last one from then on. */
function resolver(answers: readonly (readonly string[])[]): { lookup: typeof lookUp; asked: () => number } {
  let asked = 0;
  const lookup = ((_name: string, _options: object, callback: (...given: unknown[]) => void) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as unknown as typeof lookUp;
  return { lookup, asked: () => asked };
}

test('the operator’s own server is asked wherever it is', async () => {
  const { url } = await serverFor((_request, response) => response.end('{"a":1}'));
  const { status, bytes } = await client({ own: [`${url}/api`] }).get(`${url}/x?y=1`, bounds);
  expect([status, Buffer.from(bytes).toString()]).toEqual([200, '{"a":1}']);
});

test.each([
  ['a text', 'nonsense'],
  ['another scheme', 'ftp://example.com/'],
  ['a file', 'file:///etc/passwd'],
  ['a password', 'http://user:password@example.com/'],
  ['a port of another protocol', 'http://example.com:25/'],
  ['a port that browsers refuse', 'http://example.com:6667/'],
  ['loopback', 'http://127.0.0.1:8332/'],
  ['loopback in another notation', 'http://0x7f.1/'],
  ['loopback as one number', 'http://2130706433/'],
  ['loopback in octal', 'http://0177.0.0.1/'],
  ['loopback of IPv6', 'http://[::1]/'],
  ['loopback within IPv6', 'http://[::ffff:127.0.0.1]/'],
  ['the metadata of a cloud', 'http://169.254.169.254/latest/'],
])('a stranger’s URL with %s is refused', async (_words, url) => {
  await expect(client().get(url, bounds)).rejects.toMatchObject({ code: 'url_refused' });
});

test('a name is refused where one of its addresses is not public', async () => {
  const { lookup } = resolver([['93.184.215.14', '10.0.0.1']]);
  await expect(client({ lookup }).get('http://example.com/', bounds)).rejects.toMatchObject({
    code: 'url_refused',
  });
});

test('a name is resolved once for a connection: a second answer cannot lead elsewhere', async () => {
  const { port, asked } = await serverFor((_request, response) => response.end('secret'));
  const { lookup, asked: lookUps } = resolver([['203.0.114.1'], ['127.0.0.1']]);
  const http = client({ lookup });
  // nobody answers at the first address; what is behind the second one is never reached
  await expect(
    http.get(`http://rebinding.test:${port}/`, { ...bounds, timeoutMs: 300 }),
  ).rejects.toMatchObject({ code: 'url_unreachable' });
  expect(lookUps()).toBe(1);
  expect(asked).toEqual([]);
});

test('no redirect is followed', async () => {
  const { url, asked } = await serverFor((_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  );
  expect((await client({ own: [url] }).get(`${url}/`, bounds)).status).toBe(302);
  expect(asked).toHaveLength(1);
});

test('an answer that is too long is not read', async () => {
  const { url } = await serverFor((_request, response) => {
    const write = (): void => {
      if (!response.destroyed) response.write('x'.repeat(500), write);
    };
    write();
  });
  await expect(client({ own: [url] }).get(`${url}/`, bounds)).rejects.toMatchObject({
    code: 'url_answer_too_long',
  });
});

test.each([
  ['that never comes', () => undefined],
  ['that never ends', (response) => response.write('{')],
] satisfies [string, (response: Parameters<RequestListener>[1]) => unknown][])(
  'an answer %s is given up',
  async (_words, answer) => {
    const { url } = await serverFor((_request, response) => void answer(response));
    await expect(client({ own: [url] }).get(`${url}/`, { ...bounds, timeoutMs: 200 })).rejects.toMatchObject({
      code: 'url_unreachable',
    });
  },
);

test('a request ends with its signal', async () => {
  const { url } = await serverFor(() => undefined);
  const controller = new AbortController();
  const asked = client({ own: [url] }).get(`${url}/`, { ...bounds, signal: controller.signal });
  controller.abort(new Error('gone'));
  await expect(asked).rejects.toThrow('gone');
});

test('a server that is not there is unreachable', async () => {
  const own = 'http://127.0.0.1:1';
  await expect(client({ own: [own] }).get(`${own}/`, bounds)).rejects.toMatchObject({
    code: 'url_unreachable',
    details: { reason: 'ECONNREFUSED' },
  });
});
