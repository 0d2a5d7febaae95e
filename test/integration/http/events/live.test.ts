import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import {
  EventConsumer,
  parseNdjson,
  placesOfTables,
  type ReceivedEvent,
} from '#test/support/chain/events/event-consumer.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const golden = new GoldenChain('reorg-1');
const [best, short, long] = golden.tips().map(({ tip }) => tip) as [string, string, string];
let root: string;
let http: HttpApp;
let address: string;
const streams: ServerSentStream[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-live-'));
  golden.writeFolder(root);
});
beforeEach(async () => {
  http = await createHttpApp([]);
  address = await http.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await http.close();
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function goTo(tip: string, until?: number): Promise<void> {
  const source = await openFolderSource(root, { tip });
  const signal = new AbortController().signal;
  await follow({
    source,
    pool: http.database.pool,
    signal,
    threads: parseThreads(),
    ...(until === undefined ? {} : { until: asHeight(until) }),
  });
}

async function allEvents(): Promise<ReceivedEvent[]> {
  return parseNdjson(await (await fetch(`${address}/events`)).text());
}

async function lastId(): Promise<string> {
  return (await allEvents()).at(-1)!.id;
}

/** A minimal client of server-sent events. */
class ServerSentStream {
  readonly events: ReceivedEvent[] = [];
  readonly head: Promise<{
    status: number;
    type: string;
    retryAfter: string | undefined;
    body: () => string;
  }>;
  ended = false;
  lastEventId = '';
  #text = '';
  readonly #request;

  constructor(query: string, lastEventId?: string, localAddress = '127.0.0.1') {
    streams.push(this);
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    this.#request = httpRequest(`${address}/events${query}`, { headers, localAddress });
    this.#request.on('error', () => {
      this.ended = true;
    });
    this.head = new Promise((resolve) => {
      this.#request.on('response', (response) => {
        response.setEncoding('latin1');
        response.on('data', (chunk: string) => this.#take(chunk));
        response.on('error', () => undefined);
        response.on('close', () => {
          this.ended = true;
        });
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          retryAfter: response.headers['retry-after'],
          body: () => this.#text,
        });
      });
    });
    this.#request.end();
  }

  close(): void {
    this.#request.destroy();
  }

  #take(chunk: string): void {
    this.#text += chunk;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      const fields = new Map(
        this.#text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(': ', 2) as [string, string]),
      );
      const data = /^data: (.*)$/mu.exec(this.#text.slice(0, end))?.[1];
      this.#text = this.#text.slice(end + 2);
      if (data === undefined) continue;
      const event = JSON.parse(data) as ReceivedEvent;
      expect([event.id, event.type]).toEqual([fields.get('id'), fields.get('event')]);
      this.lastEventId = event.id;
      this.events.push(event);
    }
  }
}

/** Each group of 20 streams has its own client. */
const clientAddress = (at: number): string => `127.0.0.${2 + Math.floor(at / 20)}`;

/** The number of streams that one client can open now. */
async function openStreams(): Promise<number> {
  const opened = await Promise.all(
    Array.from({ length: 25 }, () => new ServerSentStream('', undefined, '127.0.0.1').head),
  );
  return opened.filter(({ status }) => status === 200).length;
}

async function listeners(): Promise<number> {
  // a role sees its own statements
  const { rows } = await http.database.readers.query<{ count: number }>(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN satscribe_outbox'",
  );
  return rows[0]!.count;
}

const until = (check: () => unknown): Promise<unknown> =>
  vi.waitFor(check, { timeout: 15_000, interval: 20 });

describe('server-sent events', () => {
  test('report every block live, over a reorganisation too, and also to clients that reconnect', async () => {
    await goTo(short, 100);
    const before = await allEvents();
    const whole = new ServerSentStream('?from=0');
    const live = new ServerSentStream('');
    expect(await live.head).toMatchObject({ status: 200, type: 'text/event-stream; charset=utf-8' });
    await until(() => expect(whole.events).toHaveLength(before.length));
    await until(async () => expect(await listeners()).toBe(1));
    await goTo(short);
    await until(async () => expect(whole.lastEventId).toBe(await lastId()));
    expect(live.events).toEqual(whole.events.slice(before.length));
    // the client disconnects in the middle of the next events, and reconnects
    const seen = live.events.length;
    expect(seen).toBeGreaterThan(10);
    live.close();
    await goTo(long);
    const again = new ServerSentStream('?from=0', live.lastEventId);
    await goTo(best);
    await until(async () => expect(again.lastEventId).toBe(await lastId()));
    await until(async () => expect(whole.lastEventId).toBe(await lastId()));
    expect(again.events).toEqual(whole.events.slice(before.length + seen));
    expect(again.events.some(({ type }) => type === 'undo')).toBe(true);
    const consumer = new EventConsumer();
    consumer.take([...before, ...live.events.slice(0, seen), ...again.events]);
    expect(consumer.places).toEqual(await placesOfTables(http.database.pool));
    expect(whole.events).toEqual(await allEvents());
  });

  test('resume after any event, also in the middle of a block', async () => {
    await goTo(best);
    const all = await allEvents();
    for (const cut of [0, 5, Math.floor(all.length / 2), all.length - 2]) {
      const stream = new ServerSentStream('', all[cut]!.id);
      await until(() => expect(stream.events).toEqual(all.slice(cut + 1)));
      stream.close();
    }
  });

  test('share one connection of the database, which is released when all have disconnected', async () => {
    await goTo(best, 50);
    const many = Array.from({ length: 12 }, () => new ServerSentStream(''));
    await Promise.all(many.map(({ head }) => head));
    await until(async () => expect(await listeners()).toBe(1));
    await goTo(best, 52);
    await until(() =>
      expect(many.every(({ events }) => events.filter(({ type }) => type === 'block').length === 2)).toBe(
        true,
      ),
    );
    expect(await listeners()).toBe(1);
    for (const stream of many) stream.close();
    await until(async () => expect(await listeners()).toBe(0));
  });

  test('continue when the listening connection is lost', async () => {
    await goTo(best, 50);
    const stream = new ServerSentStream('');
    await until(async () => expect(await listeners()).toBe(1));
    await http.database.readers.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN satscribe_outbox'",
    );
    await goTo(best, 55);
    await until(() => expect(stream.events.filter(({ type }) => type === 'block')).toHaveLength(5));
    await until(async () => expect(await listeners()).toBe(1));
  });

  test('are refused with 503 if there are too many, and free places are used again', async () => {
    const many = Array.from(
      { length: 100 },
      (_, at) => new ServerSentStream('', undefined, clientAddress(at)),
    );
    for (const { head } of many) expect((await head).status).toBe(200);
    const refused = new ServerSentStream('', undefined, '127.0.0.9');
    const { status, retryAfter, body } = await refused.head;
    expect(status).toBe(503);
    expect(Number(retryAfter)).toBeGreaterThan(0);
    await until(() => expect(refused.ended).toBe(true));
    expect(JSON.parse(body())).toEqual({
      status: 'error',
      reason: 'there are already 100 streams of events',
      code: 'too_many_streams',
    });
    many[7]!.close();
    await until(async () => expect((await fetch(`${address}/events`)).status).toBe(200));
  });

  test('of one client take no more than its share', async () => {
    const share = Array.from({ length: 20 }, () => new ServerSentStream(''));
    for (const { head } of share) expect((await head).status).toBe(200);
    const refused = new ServerSentStream('');
    const { status, retryAfter, body } = await refused.head;
    expect(status).toBe(429);
    expect(Number(retryAfter)).toBeGreaterThan(0);
    await until(() => expect(refused.ended).toBe(true));
    expect(JSON.parse(body())).toMatchObject({ status: 'error', code: 'too_many_at_once' });
    const other = new ServerSentStream('', undefined, '127.0.0.2');
    expect((await other.head).status).toBe(200);
    share[3]!.close();
    await until(async () => expect((await fetch(`${address}/events`)).status).toBe(200));
  });

  test.each([
    ['at once', 0],
    ['while the database is asked', 3],
  ])('that are abandoned %s release their places', async (_name, laterMs) => {
    const port = Number(new URL(address).port);
    for (let round = 0; round < 5; round++) {
      const sockets = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
      for (const socket of sockets) {
        socket.on('error', () => undefined);
        // each socket also sends a second request, which waits for the first answer and has no connection of its own
        const request = `GET /events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n`;
        socket.write(request + request);
      }
      await sleep(laterMs);
      for (const socket of sockets) socket.resetAndDestroy();
    }
    await until(async () => {
      const { body } = await http.app.inject('/metrics');
      expect(body).toContain('satscribe_queue_length{queue="event streams"} 0');
    });
    expect(await openStreams()).toBe(20);
  });

  test('end when the server closes', async () => {
    await goTo(best, 20);
    const stream = new ServerSentStream('?from=0');
    await until(() => expect(stream.events.length).toBeGreaterThanOrEqual(21));
    // a stream that was not ended would keep the server from closing
    await http.app.close();
    await until(() => expect(stream.ended).toBe(true));
  });

  test('refuse an invalid Last-Event-ID', async () => {
    const stream = new ServerSentStream('', 'yesterday');
    const { status, body } = await stream.head;
    expect(status).toBe(400);
    await until(() => expect(stream.ended).toBe(true));
    expect(body()).toContain('Last-Event-ID is not the id of an event');
  });
});

describe('a client that does not read', () => {
  test('has no events read ahead, and is forgotten when it disconnects', { tags: ['proof'] }, async () => {
    await goTo(best);
    const { pool, readers } = http.database;
    // add the best chain again and again, which makes some 100 MB of events
    await pool.query(
      `INSERT INTO chain.outbox (sequence, height, block_hash, event_count, events)
       SELECT (SELECT max(sequence) FROM chain.outbox) + row_number() OVER (), height, block_hash, event_count, events
       FROM chain.outbox, generate_series(1, 600) WHERE height > 100`,
    );
    let pages = 0;
    readers.on('acquire', () => {
      pages++;
    });
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.pause();
    socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    // the stream stops when the buffers in between are full, even if the machine is busy until then
    const standsStill = (): Promise<unknown> =>
      until(async () => {
        const before = pages;
        expect(before).toBeGreaterThan(0);
        await sleep(1000);
        expect(pages).toBe(before);
      });
    await standsStill();
    const taken = pages;
    const { rows } = await pool.query<{ pages: number }>(
      'SELECT sum(event_count) / 5000 AS pages FROM chain.outbox',
    );
    // servers of tests never wait for the disk, so a page needs one connection to be read, and one to be flushed
    expect(Number(rows[0]!.pages)).toBeGreaterThan((3 * taken) / 2);
    // after the client continues to read, the answer is complete
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    socket.resume();
    await until(() => expect(received).toBeGreaterThan(20_000_000));
    socket.destroy();
    await standsStill();
  });
});
