import type { lookup as lookUp } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { OutgoingHttp, type OutgoingOptions } from '#outgoing/outgoing-http.ts';
import { redirectedTo, urlProblem } from '#outgoing/stranger-url.ts';

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

/** A resolver that answers each query with the next list, and further queries with the last list. */
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

test('a name is refused if one of its addresses is not public', async () => {
  const { lookup } = resolver([['93.184.215.14', '10.0.0.1']]);
  await expect(client({ lookup }).get('http://example.com/', bounds)).rejects.toMatchObject({
    code: 'url_refused',
  });
});

test('a name is resolved once for a connection: a second answer cannot lead elsewhere', async () => {
  const { port, asked } = await serverFor((_request, response) => response.end('secret'));
  const { lookup, asked: lookUps } = resolver([['203.0.114.1'], ['127.0.0.1']]);
  const http = client({ lookup });
  // no server answers at the first address, and the server at the second address is never reached
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

test('a missing server is unreachable', async () => {
  const own = 'http://127.0.0.1:1';
  await expect(client({ own: [own] }).get(`${own}/`, bounds)).rejects.toMatchObject({
    code: 'url_unreachable',
    details: { reason: 'ECONNREFUSED' },
  });
});

test('a name that leads elsewhere at the next request is judged again', async () => {
  const { port, asked } = await serverFor((_request, response) => response.end('secret'));
  const { lookup } = resolver([['203.0.114.1'], ['127.0.0.1']]);
  const http = client({ lookup });
  const url = `http://rebinding.test:${port}/`;
  await expect(http.get(url, { ...bounds, timeoutMs: 300 })).rejects.toMatchObject({
    code: 'url_unreachable',
  });
  await expect(http.get(url, bounds)).rejects.toMatchObject({ code: 'url_refused' });
  expect(asked).toEqual([]);
});

test.each(['::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::'])(
  'a name that leads to %s is refused',
  async (address) => {
    const { lookup } = resolver([[address]]);
    await expect(client({ lookup }).get('http://example.com/', bounds)).rejects.toMatchObject({
      code: 'url_refused',
    });
  },
);

/** A compressed body. It is made once, because compression takes as long as a response may take. */
const bomb = gzipSync(Buffer.alloc(50_000_000));
const post = { ...bounds, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"a":1}') };

test('a body is sent with path and query exactly as in the URL', async () => {
  const bodies: string[] = [];
  const { url, port, asked } = await serverFor((request, response) => {
    request.on('data', (piece: Buffer) => bodies.push(piece.toString()));
    request.on('end', () => response.end());
  });
  const http = client({ allowPrivate: true });
  const targets = ["/a/../b%2fc/{T}?x='y'&z=%20|`", '/', '?token=a/b', '//double//'];
  for (const target of targets) {
    const { status } = await http.post(`${url}${target}#not-sent`, post);
    expect(status).toBe(200);
  }
  const host = `127.0.0.1:${port}`;
  expect(asked).toEqual(targets.map((target) => `${host} ${target.startsWith('/') ? target : `/${target}`}`));
  expect(bodies).toEqual(targets.map(() => '{"a":1}'));
});

test('characters that no request can hold are sent as the URL parser writes them', async () => {
  const { url, port, asked } = await serverFor((_request, response) => response.end());
  await client({ allowPrivate: true }).post(`${url}/ä b\n?c=d e`, post);
  expect(asked).toEqual([`127.0.0.1:${port} /%C3%A4%20b?c=d%20e`]);
});

test.each([
  [
    'an endless answer',
    (response) => {
      const write = (): void => {
        if (!response.destroyed) response.write('x'.repeat(500), write);
      };
      write();
    },
  ],
  ['an answer that never ends', (response) => response.writeHead(204 + 1).write('{')],
  ['an answer that breaks off', (response) => response.writeHead(200).write('{', () => response.destroy())],
  ['a compressed answer', (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)],
  ['a redirect', (response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end('there')],
] satisfies [string, (response: Parameters<RequestListener>[1]) => unknown][])(
  'of %s to a sent body the status counts, and no more than the bound is read',
  async (_words, answer) => {
    const { url, asked } = await serverFor((_request, response) => {
      answer(response);
    });
    const { status, bytes } = await client({ allowPrivate: true }).post(`${url}/`, {
      ...post,
      timeoutMs: 2_000,
    });
    expect([200, 205, 307]).toContain(status);
    expect(bytes.length).toBeLessThanOrEqual(bounds.bytesMax);
    expect(asked).toHaveLength(1);
  },
);

test('a sent body without any answer is given up', async () => {
  const { url } = await serverFor(() => undefined);
  await expect(
    client({ allowPrivate: true }).post(`${url}/`, { ...post, timeoutMs: 200 }),
  ).rejects.toMatchObject({ code: 'url_unreachable' });
});

test('a stranger’s URL is judged before it is stored', () => {
  expect(urlProblem('https://example.com/hook?token=a')).toBeNull();
  expect(urlProblem('https://example.com:8443/')).toBeNull();
  expect(urlProblem('hook')).toBe('is not a URL');
  expect(urlProblem('ftp://example.com/')).toBe('is neither http nor https');
  expect(urlProblem('http://[::ffff:10.0.0.1]/')).toBe('leads to an IP address that is not public');
  for (const name of [
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'printer.local',
    'db.internal',
    'nas.home.arpa',
  ])
    expect(urlProblem(`http://${name}/`), name).toBe('has a name of a private network');
  for (const name of ['localhost.example', 'mylocal', 'local.example'])
    expect(urlProblem(`http://${name}/`), name).toBeNull();
  expect(urlProblem('http://localhost:22/', { allowPrivate: true })).toBeNull();
  expect(urlProblem('http://10.0.0.1:22/', { allowPrivate: true })).toBeNull();
  expect(urlProblem('http://a:b@example.com/', { allowPrivate: true })).toBe('contains a user or a password');
});

/** Answers `/n` with a redirect to `/n-1`, and answers `/0` with a text. */
const countdown: RequestListener = (request, response) => {
  const left = Number(request.url?.slice(1));
  if (left === 0) response.end('here');
  else response.writeHead(302, { location: `/${left - 1}` }).end('elsewhere');
};

test('redirects are followed as often as requested', async () => {
  const { url, asked } = await serverFor(countdown);
  const http = client({ allowPrivate: true });
  const { status, bytes } = await http.get(`${url}/3`, { ...bounds, redirectsMax: 3 });
  expect([status, Buffer.from(bytes).toString()]).toEqual([200, 'here']);
  expect(asked.map((line) => line.split(' ')[1])).toEqual(['/3', '/2', '/1', '/0']);
  await expect(http.get(`${url}/4`, { ...bounds, redirectsMax: 3 })).rejects.toMatchObject({
    code: 'url_unreachable',
    message: 'The server redirects more than 3 times.',
  });
  expect((await http.get(`${url}/1`, bounds)).status).toBe(302);
});

test('a redirect leads a stranger to no server of the operator', async () => {
  const { url, asked } = await serverFor(countdown);
  const http = client({ own: [url] });
  await expect(http.get(`${url}/1`, { ...bounds, redirectsMax: 3 })).rejects.toMatchObject({
    code: 'url_refused',
  });
  expect(asked).toHaveLength(1);
});

test.each([
  ['/b', 'https://a.test/x/y', 'https://a.test/b'],
  ['c?d', 'http://a.test/x/y', 'http://a.test/x/c?d'],
  ['https://b.test/', 'http://a.test/', 'https://b.test/'],
  ['//b.test/', 'https://a.test/', 'https://b.test/'],
])('a redirect to %s from %s leads to %s', (location, from, to) => {
  expect(redirectedTo(location, from)).toBe(to);
});

test.each(['http://a.test/', 'http://[', 'https://a.test:99999/'])(
  'no redirect leads from https to %s',
  (location) => {
    expect(() => redirectedTo(location, 'https://a.test/')).toThrow(
      expect.objectContaining({ code: 'url_refused' }) as Error,
    );
  },
);
