import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { addLargeAnswer, largeBody } from '#test/support/http/large-answer.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const answerBytes = largeBody.length;
/** Settings that disconnect no client for being slow, because a slow machine takes seconds for these responses. */
const patient = { patienceMs: 600_000, rate: 1 };
/**
 * Maximum unsent bytes: two such responses for one client, and four for all clients. With two responses, the clients
 * are not under pressure yet.
 */
const budgets = {
  unsentBytes: 4.4 * answerBytes,
  unsentBytesEach: 2.5 * answerBytes,
  pace: patient,
  pressedPace: patient,
};

let http: HttpApp;
let address: URL;
let large: string;
const sockets = new Set<Socket>();

beforeAll(async () => {
  http = await createHttpApp(
    [
      {
        height: 0,
        rows: [
          { name: 'large', body: 'hello' },
          { name: 'small', body: 'hello' },
        ],
      },
    ],
    { budgets },
  );
  large = await addLargeAnswer(http.database.pool);
  address = new URL(await http.app.listen({ host: '127.0.0.1', port: 0 }));
});
afterAll(() => http.close());
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await waitUntil(async () => (await unsent()) === 0);
});

const queue = async (name: string): Promise<number> => {
  const { body } = await http.app.inject('/metrics');
  return Number(new RegExp(`^satscribe_queue_length\\{queue="${name}"\\} (.*)$`, 'mu').exec(body)?.[1]);
};
const unsent = (): Promise<number> => queue('unsent bytes');

async function open(localAddress: string): Promise<Socket> {
  const socket = connect({ port: Number(address.port), host: '127.0.0.1', localAddress });
  sockets.add(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Reads only the head of a response, and nothing after it. */
async function unread(localAddress: string, path = large): Promise<string> {
  const socket = await open(localAddress);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(socket, 'readable');
  return String(socket.read()).split('\r\n\r\n', 1)[0]!;
}

describe('unread answers', () => {
  test('only fill the share of their client: others are answered', async () => {
    for (const wanted of [1, 2]) {
      expect(await unread('127.0.0.2')).toContain('200 OK');
      expect(await unsent()).toBe(wanted * answerBytes);
    }
    const refused = await unread('127.0.0.2');
    expect(refused).toContain('429 Too Many Requests');
    expect(refused).toContain('retry-after: 2');
    // there is room for the client's small responses
    expect(await unread('127.0.0.2', '/blockheight')).toContain('200 OK');
    expect(await (await fetch(new URL(large, address))).text()).toHaveLength(answerBytes);
    expect(await unsent()).toBe(2 * answerBytes);
  });

  test('of all clients are limited too: those without room are refused with a retry time', {
    tags: ['proof'],
  }, async () => {
    for (const client of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'])
      expect(await unread(client)).toContain('200 OK');
    const refused = await unread('127.0.0.6');
    expect(refused).toContain('503 Service Unavailable');
    expect(refused).toContain('retry-after: 2');
    // cheap requests continue
    expect((await fetch(new URL('/blockheight', address))).status).toBe(200);
    const [first] = sockets;
    first?.destroy();
    await waitUntil(async () => (await unsent()) === 3 * answerBytes);
    expect(await unread('127.0.0.6')).toContain('200 OK');
  });

  test('hold no place among requests being answered', async () => {
    await unread('127.0.0.2');
    expect(await queue('requests being answered')).toBe(0);
  });
});

describe('large answers', () => {
  test('have their length, and arrive unchanged, compressed or not', async () => {
    const plain = await fetch(new URL(large, address), { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-length')).toBe(String(answerBytes));
    const text = await plain.text();
    expect(text === largeBody).toBe(true);
    const packed = await http.app.inject({ url: large, headers: { 'accept-encoding': 'br' } });
    expect(packed.headers['content-length']).toBeUndefined();
    expect(brotliDecompressSync(packed.rawPayload).toString() === text).toBe(true);
  });
});

test('requests of one packet are answered one after another, and in their order', async () => {
  const socket = await open('127.0.0.2');
  const paths = ['/blockheight', `/r/inscription/${idOf('small')}`, '/nothing', '/blockcount'];
  const requests = Array.from({ length: 60 }, (_, index) => paths[index % paths.length]);
  const last = 'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  socket.write(requests.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join('') + last);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => status);
  expect(statuses).toEqual([...requests, '/nothing'].map((path) => (path === '/nothing' ? '404' : '200')));
});

test('a packet of large answers has only one of them in memory', async () => {
  const socket = await open('127.0.0.2');
  socket.write(`GET ${large} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(50));
  await waitUntil(async () => (await unsent()) > 0);
  expect(await unsent()).toBe(answerBytes);
  expect(await queue('requests being answered')).toBe(0);
  // the next response does not start on a closed connection
  socket.destroy();
  await waitUntil(async () => (await unsent()) === 0);
  expect(await queue('requests being answered')).toBe(0);
});

test('a connection that sends hundreds of requests ahead is closed', async () => {
  // the client's IP address is then refused for a second
  const socket = await open('127.0.0.9');
  socket.write(`GET ${large} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(300));
  await once(socket.resume(), 'close');
});
