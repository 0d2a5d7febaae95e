import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

let http: HttpApp;
let given: TestAccess;
let port: number;
let key: string;

beforeAll(async () => {
  http = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'text' }] }], {
    access: ({ accessPool }) => (given = testAccess(accessPool)).access,
  });
  ({ key } = await giveKey(http.database.pool));
  port = Number(new URL(await http.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(async () => {
  await given.close();
  await http.close();
});

interface Head {
  readonly path?: string;
  readonly contentType?: string;
  readonly headers: readonly string[];
}

/** Sends a head with `Expect: 100-continue`, without a body. */
function ask({ path = '/search/hashes', contentType = 'application/json', headers }: Head): Socket {
  const socket = connect(port, '127.0.0.1');
  const fields = ['Host: a', `Content-Type: ${contentType}`, 'Expect: 100-continue', ...headers];
  socket.write(`POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
  return socket;
}

const withKey = (): string => `x-api-key: ${key}`;
const length = 'Content-Length: 13';

/** Everything that the server sends until it closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe('a client that waits for "100 Continue"', () => {
  test.each<[string, number, () => Head]>([
    ['has no key', 401, () => ({ headers: [length] })],
    ['has an unknown key', 401, () => ({ headers: [length, 'x-api-key: wrong'] })],
    ['would send too much', 413, () => ({ headers: ['Content-Length: 2000000', withKey()] })],
    ['would send another format', 415, () => ({ contentType: 'text/csv', headers: [length, withKey()] })],
    ['asks an unknown path', 404, () => ({ path: '/nothing/there', headers: [length] })],
    ['asks with a wrong method', 405, () => ({ path: '/status', headers: [length] })],
  ])('is refused before it sends the body, and the connection ends: it %s', async (_name, status, head) => {
    const text = await untilClosed(ask(head()));
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `, 'u'));
    expect(text.toLowerCase()).toContain('\r\nconnection: close\r\n');
    expect(text).not.toContain('100 Continue');
  });

  test('is refused beyond its rate before it sends the body', async () => {
    const { key: slow } = await giveKey(http.database.pool, { rate: '1' });
    const first = ask({ headers: [length, `x-api-key: ${slow}`] });
    expect(String(((await once(first, 'data')) as [Buffer])[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    first.destroy();
    const text = await untilClosed(ask({ headers: [length, `x-api-key: ${slow}`] }));
    expect(text).toMatch(/^HTTP\/1.1 429 /u);
  });

  test.each([
    ['with its length', length, '{"hashes":[]}'],
    ['in chunks', 'Transfer-Encoding: chunked', 'd\r\n{"hashes":[]}\r\n0\r\n\r\n'],
  ])(
    'is asked for the body once it may send it, and can use the connection again: %s',
    async (_name, header, body) => {
      const socket = ask({ headers: [header, withKey()] });
      expect(String(((await once(socket, 'data')) as [Buffer])[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write(body);
      const answer = String(((await once(socket, 'data')) as [Buffer])[0]);
      expect(answer).toMatch(/^HTTP\/1.1 200 /u);
      expect(answer.toLowerCase()).toContain('\r\nconnection: keep-alive\r\n');
      expect(answer).toContain('"status":"ok"');
      socket.write('GET /blockcount HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 200 /u);
    },
  );

  test('is answered without a body if the path takes none', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /blockcount HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n');
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 200 /u);
  });
});
