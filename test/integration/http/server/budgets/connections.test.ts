import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { whileLocked } from '#test/support/postgres/locked-tables.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const budgets = { connections: 8, connectionsEach: 5 };
const proxy = '127.0.9.9';

let http: HttpApp;
let port: number;
const sockets = new Set<Socket>();

beforeAll(async () => {
  http = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'hello' }] }], {
    budgets,
    trustedProxies: [proxy],
  });
  port = Number(new URL(await http.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => http.close());
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await waitUntil(async () => (await open()) === 0);
});

const metric = async (name: string): Promise<number> => {
  const { body } = await http.app.inject('/metrics');
  return Number(new RegExp(`^${name.replaceAll(/[{}]/gu, '\\$&')} (\\d+)$`, 'mu').exec(body)?.[1]);
};
const open = (): Promise<number> => metric('satscribe_http_connections');

/** A connection from an IP address of this machine. */
async function from(localAddress: string, bytes = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.add(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.resume();
  if (bytes !== '') socket.write(bytes);
  return socket;
}

const several = async (count: number, address: string, bytes = ''): Promise<Socket[]> => {
  const opened: Socket[] = [];
  for (let index = 0; index < count; index++) opened.push(await from(address, bytes));
  return opened;
};

const closed = (all: readonly Socket[]): boolean[] => all.map((socket) => socket.closed);

/** The response to a request on a connection. Null if the server closes the connection. */
async function ask(socket: Socket, path = '/blockheight'): Promise<string | null> {
  const answered = once(socket, 'data').then(([chunk]) => String(chunk));
  const ended = once(socket, 'close').then(() => null);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return Promise.race([answered, ended]);
}

describe('idle connections of one address', () => {
  test('are limited, and the longest idle one gives way to a new one', async () => {
    const own = await several(budgets.connectionsEach, '127.0.0.2');
    await waitUntil(async () => (await open()) === budgets.connectionsEach);
    // a connection gives way only after it was idle for a second, so requests before that are refused
    let answer: string | null = null;
    await waitUntil(async () => {
      answer = await ask(await from('127.0.0.2'));
      return answer !== null;
    });
    expect(answer).toContain('200 OK');
    await waitUntil(() => own[0]?.closed === true);
    expect(closed(own)).toEqual([true, false, false, false, false]);
    expect(await open()).toBe(budgets.connectionsEach);
  });

  test.each([
    ['that say nothing', ''],
    ['with unfinished headers', 'GET / HTTP/1.1\r\nx-slow: '],
    ['that asked before', 'GET /blockheight HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('%s give way to those of others if the process is full', async (_name, bytes) => {
    const many = await several(5, '127.0.0.2', bytes);
    const few = await several(3, '127.0.0.3', bytes);
    await waitUntil(async () => (await open()) === budgets.connections);
    // a connection whose request is in progress is not idle
    if (bytes.endsWith('\r\n\r\n'))
      await waitUntil(() => [...many, ...few].every(({ bytesRead }) => bytesRead > 0));
    const before = await metric('satscribe_http_connections_ended{why="idle"}');
    const others = await several(2, '127.0.0.4');
    for (const other of others) expect(await ask(other)).toContain('200 OK');
    await waitUntil(() => closed(many).filter(Boolean).length === 2);
    expect(closed(few)).toEqual([false, false, false]);
    expect(await metric('satscribe_http_connections_ended{why="idle"}')).toBe(before + 2);
  });
});

test('a connection with a request in progress never gives way, and one without room is closed', async () => {
  await whileLocked(http.database, 'chain.state', async (unlock) => {
    const busy = await several(budgets.connectionsEach, '127.0.0.2');
    const answers = busy.map((socket) => ask(socket));
    await waitUntil(
      async () => (await metric('satscribe_queue_length{queue="requests being answered"}')) === 5,
    );
    const before = await metric('satscribe_http_connections_ended{why="refused"}');
    const late = await from('127.0.0.2');
    await waitUntil(() => late.closed);
    expect(await metric('satscribe_http_connections_ended{why="refused"}')).toBe(before + 1);
    await unlock();
    expect(await Promise.all(answers)).toEqual(busy.map(() => expect.stringContaining('200 OK') as string));
  });
});

test('a trusted proxy may have all connections', async () => {
  const own = await several(budgets.connections, proxy);
  for (const socket of own) expect(await ask(socket)).toContain('200 OK');
  expect(closed(own)).toEqual(own.map(() => false));
  // these connections also do not give way to others
  const other = await from('127.0.0.2');
  await waitUntil(() => other.closed);
});

describe('only one client is shut out, for a second', () => {
  const request = 'GET /blockheight HTTP/1.1\r\nHost: x\r\n\r\n';
  const chunked =
    'POST /missing HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';

  test.each([
    ['with too many requests ahead on a connection', request.repeat(400)],
    ['with chunks of one byte', chunked + '1\r\n \r\n'.repeat(2_000)],
  ])('%s', async (_name, bytes) => {
    const before = await metric('satscribe_http_connections_ended{why="refused"}');
    const hasty = await from('127.0.0.5', bytes);
    await waitUntil(() => hasty.closed);
    const again = await from('127.0.0.5');
    expect(await ask(await from('127.0.0.6'))).toContain('200 OK');
    expect(await ask(again)).toBeNull();
    expect(await metric('satscribe_http_connections_ended{why="refused"}')).toBe(before + 1);
    // the refusal has used up its second
    expect(await ask(await from('127.0.0.5'))).toContain('200 OK');
  });
});
