import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { type Sending, startSending, within } from '#test/support/webhooks/sending.ts';
import { putWebhook } from '#webhooks/outbox.ts';
import { readWebhooks } from '#webhooks/webhooks.queries.ts';

const bomb = gzipSync(Buffer.alloc(100_000_000));

/** Bytes of each response that were written before it was cut off. */
const written = new Map<string, number>();

function writeFor(host: string, response: ServerResponse, piece: Buffer): void {
  response.on('error', () => undefined);
  const write = (): void => {
    if (response.destroyed) return;
    written.set(host, (written.get(host) ?? 0) + piece.length);
    response.write(piece, write);
  };
  write();
}

/** For each host, the behaviour of the receiver, and the expected state of its message after the first try. */
const hostile: Readonly<
  Record<string, { answer: (response: ServerResponse) => unknown; state: string; status: number | null }>
> = {
  endless: {
    answer: (response) => writeFor('endless', response, Buffer.alloc(16_384, 'x')),
    state: 'delivered',
    status: 200,
  },
  'endless-error': {
    answer: (response) => writeFor('endless-error', response.writeHead(500), Buffer.alloc(16_384, 'x')),
    state: 'waiting',
    status: 500,
  },
  bomb: {
    answer: (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    state: 'delivered',
    status: 200,
  },
  'long-length': {
    answer: (response) => response.writeHead(200, { 'content-length': '9007199254740991' }).destroy(),
    state: 'waiting',
    status: null,
  },
  redirect: {
    answer: (response) => response.writeHead(307, { location: 'http://never.test/' }).end(),
    state: 'waiting',
    status: 307,
  },
  garbage: {
    answer: (response) => response.socket?.end('this is not HTTP\r\n\r\n'),
    state: 'waiting',
    status: null,
  },
  silent: { answer: (response) => response.socket?.destroy(), state: 'waiting', status: null },
  headers: {
    answer: (response) =>
      response.socket?.end(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}content-length: 0\r\n\r\n`),
    state: 'waiting',
    status: null,
  },
  'odd-status': {
    answer: (response) => response.socket?.end('HTTP/1.1 999 \r\ncontent-length: 0\r\n\r\n'),
    state: 'waiting',
    status: 999,
  },
  'two-answers': {
    answer: (response) =>
      response.socket?.end(
        'HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      ),
    state: 'waiting',
    status: 500,
  },
};

let database: TestDatabase;
let receiver: Receiver;
let sending: Sending;
beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver(({ host }, response) =>
    hostile[host.replace('.test', '')]?.answer(response),
  );
  sending = startSending(database);
});
afterAll(async () => {
  await sending.stop();
  await receiver.close();
  await database.drop();
});

test.each(Object.entries(hostile))(
  'a receiver that is %s takes no more than its bounds',
  async (name, { state, status }) => {
    const subject = `order ${name}`;
    const url = `http://${name}.test:${receiver.port}/`;
    await within(database, (tx) => putWebhook(tx, { subject, url, body: { name } }));
    await waitUntil(async () => {
      const [message] = await readWebhooks(database.pool, subject, 0, 1);
      expect(message).toMatchObject({ state, status });
      expect(message!.tries).toBeGreaterThan(0);
    });
    // at most the limit plus the buffers of both systems
    expect(written.get(name) ?? 0).toBeLessThan(30_000_000);
    expect(receiver.received.filter(({ host }) => host === 'never.test')).toEqual([]);
  },
);
