import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Received, type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { type Sending, startSending, within } from '#test/support/webhooks/sending.ts';
import { putWebhook } from '#webhooks/outbox.ts';
import { readWaiting } from '#webhooks/webhooks.queries.ts';

const failing = 10_000;
const messages = 200;

/** Half of the receivers never answer; the others fail in several ways. */
function fail({ host }: Received, response: ServerResponse): void {
  switch (Number(/\d+/u.exec(host)?.[0]) % 10) {
    case 0:
      response.writeHead(500).end();
      break;
    case 1:
      response.socket?.destroy();
      break;
    case 2:
      response.writeHead(302, { location: '/' }).end();
      break;
    case 3:
      // the status comes late, and is an error
      setTimeout(() => response.writeHead(503).end(), 3_000);
      break;
    case 4:
      response.writeHead(500).write('x');
      break;
    default:
  }
}

let database: TestDatabase;
let receiver: Receiver;
let sending: Sending;
beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver((request, response) => {
    if (request.host.startsWith('good')) response.end();
    else fail(request, response);
  });
  sending = startSending(database);
});
afterAll(async () => {
  await sending.stop();
  await receiver.close();
  await database.drop();
});

const put = (subject: string, host: string, n: number) =>
  within(database, (tx) =>
    putWebhook(tx, { subject, url: `http://${host}.test:${receiver.port}/`, body: { n } }),
  );
const arrivedAt = (host: string) => receiver.received.filter((each) => each.host === `${host}.test`).length;
async function timed(host: string, from: number, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = from; n < from + count; n++) {
    const startedAt = performance.now();
    await put(`order of ${host}`, host, n);
    await waitUntil(() => arrivedAt(host) === n + 1, { everyMs: 2 });
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b);
}
const shown = (times: readonly number[]): string =>
  [0.5, 0.95, 1].map((part) => Math.round(times[Math.ceil(times.length * part) - 1] ?? 0)).join(' / ');

test(`${failing} failing receivers delay none that answers`, async () => {
  const alone = await timed('good', 0, messages);
  await within(database, async (tx) => {
    for (let n = 0; n < failing; n++) {
      const url = `http://bad-${n}.test:${receiver.port}/`;
      await putWebhook(tx, { subject: `order ${n}`, url, body: { n } });
    }
  });
  await waitUntil(() => receiver.open().length >= 12);
  const beside = await timed('good', messages, messages);
  const untried = async () => {
    const { rows } = await database.pool.query<{ count: number }>(
      "SELECT count(*) AS count FROM service.webhooks WHERE tries = 0 AND state = 'waiting'",
    );
    return rows[0]?.count ?? 0;
  };
  const startedAt = performance.now();
  // the message of a receiver that was never seen before comes after all others
  const fresh = await timed('good-new', 0, 1);
  const left = await untried();
  // the new message arrives a moment before its arrival is stored
  await waitUntil(async () => expect(await readWaiting(database.pool)).toMatchObject({ count: failing }));
  process.stdout.write(
    `messages at once, ms p50 / p95 / max: alone ${shown(alone)}, beside ${failing} failing receivers ${shown(beside)}; a new receiver ${shown(fresh)} with ${left} of ${failing} others untried\n`,
  );
  expect(startedAt).toBeGreaterThan(0);
  // most of the earlier messages have no try yet
  expect(left).toBeGreaterThan(failing / 2);
});
