import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ContentReads, pieceBytes } from '#http/server/budgets/content-reads.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { whileLocked } from '#test/support/postgres/locked-tables.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** A body with more bytes than the buffers of two unread sockets hold. */
const long = Buffer.alloc(48 * 1024 * 1024, 'long body ');
/** Two pieces. */
const medium = Buffer.alloc(pieceBytes + 1, 'medium ');
const bounds = { running: 1, waiting: 2, waitMs: 60_000, sending: 2 };

let http: HttpApp;
let pool: pg.Pool;
let reads: ContentReads;
let address: URL;

beforeAll(async () => {
  http = await createHttpApp(
    [
      {
        height: 0,
        rows: [
          { name: 'long', type: 'video/mp4', body: long },
          { name: 'medium', type: 'image/png', body: medium },
          { name: 'short', body: 'short' },
          { name: 'lost', type: 'video/mp4', body: Buffer.concat([long, Buffer.from('!')]) },
        ],
      },
    ],
    {
      contents: ({ readerUrl }) => {
        const options = { max: 1, statementTimeoutMs: 60_000, readOnly: true, applicationName: 'contents' };
        pool = createPool(readerUrl, options);
        reads = new ContentReads(pool, bounds);
        return reads;
      },
    },
  );
  address = new URL(await http.app.listen({ port: 0, host: '127.0.0.1' }));
});
afterAll(async () => {
  await http.close();
  await pool.end();
});
beforeEach(async () => {
  await waitUntil(() => reads.sending.length === 0 && reads.waiting.length === 0 && pool.waitingCount === 0);
});

const urlOf = (name: string): string => new URL(`/content/${idOf(name)}`, address).href;
const get = async (name: string, init: RequestInit = {}): Promise<Response> => fetch(urlOf(name), init);

/** Bytes that the database has sent over the only connection for contents. */
async function receivedBytes(): Promise<number> {
  const client = await pool.connect();
  const { bytesRead } = (client as unknown as { connection: { stream: Socket } }).connection.stream;
  client.release();
  return bytesRead;
}

/** A client that sends a request and reads nothing. */
async function slowClient(name: string): Promise<Socket> {
  const socket = connect(Number(address.port), address.hostname);
  await once(socket, 'connect');
  socket.write(`GET /content/${idOf(name)} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

describe('a content', () => {
  test('is sent whole and in parts over several pieces, unchanged', async () => {
    expect(Buffer.from(await (await get('medium')).arrayBuffer()).equals(medium)).toBe(true);
    expect(Buffer.from(await (await get('long')).arrayBuffer()).equals(long)).toBe(true);
    const [first, last] = [pieceBytes - 2, 3 * pieceBytes + 5];
    const part = await get('long', { headers: { range: `bytes=${first}-${last}` } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(long.subarray(first, last + 1))).toBe(true);
  });

  test('costs the database only the requested range', async () => {
    const before = await receivedBytes();
    for (const range of ['bytes=0-0', 'bytes=30000000-30000000', 'bytes=-1']) {
      const answer = await get('long', { headers: { range } });
      expect(answer.status).toBe(206);
      expect((await answer.arrayBuffer()).byteLength).toBe(1);
    }
    await get('long', { method: 'HEAD' });
    expect((await receivedBytes()) - before).toBeLessThan(10_000);
  });

  test('is read at the pace of its client, without a connection between pieces', async () => {
    const before = await receivedBytes();
    const socket = await slowClient('long');
    // the only connection is free for other clients
    expect(await (await get('short')).text()).toBe('short');
    let last = -1;
    // hex digits are sent, which are two bytes for each byte
    await waitUntil(async () => last === (last = (await receivedBytes()) - before), { everyMs: 300 });
    expect(last).toBeLessThan(2 * (long.length / 2));
    expect(reads.sending.length).toBe(1);
    socket.destroy();
    await waitUntil(() => reads.sending.length === 0);
  });

  test('ends if a reorganisation removes it during the answer', async () => {
    const answer = await get('lost');
    expect(answer.status).toBe(200);
    await http.database.pool.query("UPDATE chain.contents SET sha256 = '' WHERE length(body) = $1", [
      long.length + 1,
    ]);
    await expect(answer.arrayBuffer()).rejects.toThrow('terminated');
  });
});

describe('contents', () => {
  test('count every client with any request: heavy readers disturb it', async () => {
    const seen = vi.spyOn(reads, 'sees');
    await http.app.inject({ url: '/blockheight', remoteAddress: '192.0.2.7' });
    // a client that only checks whether the process lives does not count
    await http.app.inject({ url: '/health/live', remoteAddress: '192.0.2.8' });
    expect(seen.mock.calls.flat()).toEqual(['192.0.2.7']);
    seen.mockRestore();
  });

  test('sent to many clients leave no place for another long content, but room for short ones', async () => {
    const sockets = [await slowClient('long'), await slowClient('long')];
    const refused = await get('medium');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(refused.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await (await get('short')).text()).toBe('short');
    for (const socket of sockets) socket.destroy();
    await waitUntil(() => reads.sending.length === 0);
    expect((await get('medium')).status).toBe(200);
  });

  test('that no client waits for are not read, and others are refused or answered in time', async () => {
    await whileLocked(http.database, 'chain.contents', async (unlock) => {
      const controller = new AbortController();
      const gone = ['long', 'medium', 'short'].map((name) => get(name, { signal: controller.signal }));
      const settled = Promise.allSettled(gone);
      await waitUntil(() => reads.waiting.length === 2);
      const refused = await get('short');
      expect(refused.status).toBe(503);
      expect(await refused.text()).toBe('too many contents are being read; try again in a few seconds\n');
      // other responses have their own connections
      expect((await fetch(new URL('/blockheight', address))).status).toBe(200);
      await waitUntil(async () => (await runningReads()) === 1);
      controller.abort();
      await settled;
      await waitUntil(() => reads.waiting.length === 0);
      await waitUntil(async () => (await runningReads()) === 0, { limitMs: 30_000 });
      const waiting = get('short');
      await waitUntil(async () => (await runningReads()) === 1);
      await unlock();
      expect(await (await waiting).text()).toBe('short');
    });
    expect(http.logged.filter(({ msg }) => msg === 'request failed')).toEqual([]);
  });

  test('for clients that leave at once release their places', async () => {
    for (let round = 0; round < 200; round++) {
      const socket = connect(Number(address.port), address.hostname);
      await once(socket, 'connect');
      socket.write(
        `GET /content/${idOf(round % 2 === 0 ? 'long' : 'short')} HTTP/1.1\r\nHost: x\r\n\r\n`,
        () => socket.destroy(),
      );
    }
    await waitUntil(() => reads.sending.length === 0 && reads.waiting.length === 0);
    expect(await (await get('short')).text()).toBe('short');
  });

  async function runningReads(): Promise<number> {
    const { rows } = await http.database.readers.query<{ count: number }>(
      "SELECT count(*) AS count FROM pg_stat_activity WHERE application_name = 'contents' AND state = 'active'",
    );
    return rows[0]?.count ?? 0;
  }
});
