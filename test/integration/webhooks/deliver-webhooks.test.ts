import { createHmac, createPublicKey, verify } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Received, type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { type Sending, startSending, testKeys, within } from '#test/support/webhooks/sending.ts';
import { readPublicKeys } from '#webhooks/key.store.ts';
import { putWebhook, putWebhooks, replayWebhooks } from '#webhooks/outbox.ts';
import { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { readWaiting, readWebhooks } from '#webhooks/webhooks.queries.ts';

let database: TestDatabase;
const receivers: Receiver[] = [];
const sendings: Sending[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  // all at once: a message that is being sent must not wait for the response of a receiver that closes
  await Promise.all(sendings.splice(0).map((each) => each.stop()));
  await Promise.all(receivers.splice(0).map((each) => each.close()));
  await database.drop();
});

async function receiver(...given: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...given);
  receivers.push(started);
  return started;
}
function sending(...[options]: [Parameters<typeof startSending>[1]?]): Sending {
  const started = startSending(database, options);
  sendings.push(started);
  return started;
}
const put = (subject: string, url: string | null, body: object, secretOf?: string) =>
  within(database, (tx) => putWebhook(tx, { subject, url, body, secretOf }));
const feed = (subject: string) => readWebhooks(database.pool, subject, 0, 1000);
const statesOf = async (subject: string) => (await feed(subject)).map(({ state }) => state);
const allSettled = () =>
  waitUntil(async () => expect(await readWaiting(database.pool)).toMatchObject({ count: 0 }));
const bodies = (all: readonly Received[]) => all.map(({ body }) => body.toString());

test('a message arrives at the URL as it was given, signed for anybody who has the public key', async () => {
  const { port, received } = await receiver();
  const url = `http://shop.test:${port}/orders/{token}/..//x?wc-api=a'b&order_id=%7e`;
  await put('order 1', url, { id: 'ü', state: 'prep' }, 'order 1');
  sending();
  await allSettled();
  expect(received).toHaveLength(1);
  const [{ headers, body, target }] = received as [Received];
  expect(target).toBe(url.slice(`http://shop.test:${port}`.length));
  expect(body.toString()).toBe('{"id":"ü","state":"prep"}');
  const [told] = await feed('order 1');
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature = '' } = headers;
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'x-satscribe-sequence': '1',
    'webhook-id': told?.id,
  });
  expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(600);
  // verifies the signatures like a receiver
  const signed = `${String(id)}.${String(time)}.${body.toString()}`;
  const [asymmetric = '', symmetric = ''] = String(signature).split(' ');
  const [published] = await readPublicKeys(database.readers);
  const x = Buffer.from(published!.key.replace('whpk_', ''), 'base64').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const bytes = Buffer.from(asymmetric.replace('v1a,', ''), 'base64');
  expect(verify(null, Buffer.from(signed), publicKey, bytes)).toBe(true);
  const mac = createHmac('sha256', testKeys.sharedSecret('order 1')).update(signed).digest('base64');
  expect(symmetric).toBe(`v1,${mac}`);
  expect(told).toMatchObject({ state: 'delivered', tries: 1, status: 200, error: null, nextTryAt: null });
});

test('messages that are put while it runs are sent in the order of each subject', async () => {
  const { port, received } = await receiver();
  sending();
  const url = `http://shop.test:${port}/`;
  for (let n = 0; n < 20; n++) {
    await Promise.all(['a', 'b', 'c'].map((id) => put(`order ${id}`, url, { id, n })));
  }
  await within(database, (tx) =>
    putWebhooks(
      tx,
      { subject: 'order a', url },
      Array.from({ length: 80 }, (_, n) => ({ id: 'a', n: 20 + n })),
    ),
  );
  await allSettled();
  const told = bodies(received).map((body) => JSON.parse(body) as { id: string; n: number });
  for (const [id, count] of [
    ['a', 100],
    ['b', 20],
    ['c', 20],
  ] as const) {
    expect(told.filter((body) => body.id === id).map(({ n }) => n)).toEqual(
      Array.from({ length: count }, (_, n) => n),
    );
  }
});

test('a failed message is tried again after each pause, with the same id, and the next one waits for it', async () => {
  let isBroken = true;
  const { port, received } = await receiver((_request, response) =>
    response.writeHead(isBroken ? 500 : 204).end(),
  );
  const url = `http://shop.test:${port}/`;
  await put('order 1', url, { n: 1 });
  await put('order 1', url, { n: 2 });
  const { pass } = sending();
  /**
   * The first message once it waits for its next try, after more than `tries` tries. On a busy machine two tries may
   * pass.
   */
  const waitsAfter = (tries: number) =>
    waitUntil(async () => {
      const [first] = await feed('order 1');
      return first!.tries > tries && first!.nextTryAt !== null && first!;
    });
  const pausesMs = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 10_800_000];
  let tries = 0;
  while (tries < pausesMs.length) {
    const first = await waitsAfter(tries);
    ({ tries } = first);
    const pauseMs = pausesMs[tries - 1]!;
    expect(first.nextTryAt!.getTime() - first.triedAt!.getTime()).toBe(pauseMs);
    expect(received).toHaveLength(tries);
    if (tries < pausesMs.length) await pass(pauseMs);
  }
  expect(await statesOf('order 1')).toEqual(['waiting', 'waiting']);
  expect((await feed('order 1'))[0]).toMatchObject({ status: 500, error: null });
  isBroken = false;
  await pass(10_900_000);
  await allSettled();
  expect(await statesOf('order 1')).toEqual(['delivered', 'delivered']);
  expect(bodies(received)).toEqual([...Array.from({ length: tries + 1 }, () => '{"n":1}'), '{"n":2}']);
  expect(new Set(received.slice(0, -1).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

test('after three days a message is given up, and the next one has its turn', async () => {
  const { port, received } = await receiver((request, response) =>
    response.writeHead(request.body.toString() === '{"n":1}' ? 302 : 200, { location: '/else' }).end(),
  );
  const url = `http://shop.test:${port}/`;
  await put('order 1', url, { n: 1 });
  await put('order 1', url, { n: 2 });
  const { pass } = sending();
  for (let tries = 1; tries <= 31; tries++) {
    await waitUntil(async () => expect((await feed('order 1'))[0]?.tries).toBeGreaterThanOrEqual(tries));
    // the clock does not move during the try of the second message, because that would end the message's lease
    if (tries < 31) await pass(11_000_000);
  }
  await allSettled();
  expect(await statesOf('order 1')).toEqual(['given-up', 'delivered']);
  expect(received).toHaveLength(32);
});

test('410 ends the URL of a subject, until a replay', async () => {
  let status = 410;
  const { port, received } = await receiver((_request, response) => response.writeHead(status).end());
  const url = `http://shop.test:${port}/`;
  await put('order 1', url, { n: 1 });
  await put('order 1', url, { n: 2 });
  sending();
  await allSettled();
  expect(await statesOf('order 1')).toEqual(['gone', 'gone']);
  await put('order 1', url, { n: 3 });
  await put('order 1', `${url}other`, { n: 4 });
  await allSettled();
  expect(await statesOf('order 1')).toEqual(['gone', 'gone', 'gone', 'gone']);
  expect(received.map(({ target }) => target)).toEqual(['/', '/other']);
  status = 200;
  expect(await within(database, (tx) => replayWebhooks(tx, 'order 1', 3))).toBe(2);
  await allSettled();
  expect(await statesOf('order 1')).toEqual(['gone', 'gone', 'delivered', 'delivered']);
  await put('order 1', url, { n: 5 });
  await allSettled();
  expect(bodies(received.slice(2))).toEqual(['{"n":3}', '{"n":4}', '{"n":5}']);
});

test('a replay sends again from a sequence on, in the order, with the ids of before', async () => {
  const { port, received } = await receiver();
  await within(database, (tx) =>
    putWebhooks(
      tx,
      { subject: 'order 1', url: `http://shop.test:${port}/` },
      [1, 2, 3].map((n) => ({ n })),
    ),
  );
  sending();
  await allSettled();
  await within(database, (tx) => replayWebhooks(tx, 'order 1', 2));
  await allSettled();
  expect(bodies(received)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":2}', '{"n":3}']);
  const ids = received.map(({ headers }) => headers['webhook-id']);
  expect(ids.slice(3)).toEqual(ids.slice(1, 3));
});

test('a replay while a message is being sent begins at its sequence after that', async () => {
  const answers: (() => void)[] = [];
  const { port, received } = await receiver((_request, response) => {
    answers.push(() => response.end());
    if (received.length !== 2) answers.pop()?.();
  });
  await within(database, (tx) =>
    putWebhooks(
      tx,
      { subject: 'order 1', url: `http://shop.test:${port}/` },
      [1, 2, 3].map((n) => ({ n })),
    ),
  );
  sending();
  await waitUntil(() => received.length === 2 && answers.length === 1);
  await within(database, (tx) => replayWebhooks(tx, 'order 1', 1));
  answers.pop()?.();
  await allSettled();
  expect(bodies(received)).toEqual(['{"n":1}', '{"n":2}', '{"n":1}', '{"n":3}']);
});

test('of several processes never two try a message at once, and each message is sent once', async () => {
  const { port, received, open } = await receiver((request, response) => {
    const others = open().filter((other) => other !== request);
    const id = request.headers['webhook-id'];
    if (others.some((other) => other.headers['webhook-id'] === id)) doubled.push(String(id));
    if (others.some(({ target }) => target === request.target)) doubled.push(request.target);
    setImmediate(() => response.end());
  });
  const doubled: string[] = [];
  const subjects = Array.from({ length: 60 }, (_, index) => `order ${index}`);
  for (const subject of subjects) {
    const url = `http://${subject.replace(' ', '-')}.test:${port}/${subject.slice(6)}`;
    await within(database, (tx) =>
      putWebhooks(
        tx,
        { subject, url },
        Array.from({ length: 5 }, (_, n) => ({ subject, n })),
      ),
    );
  }
  for (let processes = 0; processes < 3; processes++) sending();
  await allSettled();
  expect(doubled).toEqual([]);
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(300);
  expect(received).toHaveLength(300);
  for (const subject of subjects) {
    const told = bodies(received).filter((body) => body.includes(`"${subject}"`));
    expect(told).toEqual(Array.from({ length: 5 }, (_, n) => JSON.stringify({ subject, n })));
  }
});

test('one host has no more than four tries at once, and others do not wait for it', async () => {
  const { port, received, open } = await receiver((request, response) => {
    if (request.host === 'good.test') response.end();
  });
  for (let n = 0; n < 20; n++) await put(`slow ${n}`, `http://slow.test:${port}/`, { n });
  for (let n = 0; n < 20; n++) await put(`good ${n}`, `http://good.test:${port}/`, { n });
  sending();
  const good = () => received.filter(({ host }) => host === 'good.test');
  await waitUntil(() => good().length === 20);
  await waitUntil(() => open().length === 4);
  expect(received.filter(({ host }) => host === 'slow.test')).toHaveLength(4);
});

test('500 receivers that never answer delay none that does', async () => {
  const { port, received, open } = await receiver((request, response) => {
    if (request.host === 'good.test') response.end();
  });
  const good = () => received.filter(({ host }) => host === 'good.test').length;
  const { pass } = sending();
  await put('good', `http://good.test:${port}/`, { first: true });
  await allSettled();
  await within(database, async (tx) => {
    for (let n = 0; n < 500; n++)
      await putWebhook(tx, { subject: `dead ${n}`, url: `http://dead-${n}.test:${port}/`, body: { n } });
  });
  await waitUntil(() => open().length === 12);
  for (let n = 0; n < 50; n++) await put('good', `http://good.test:${port}/`, { n });
  await waitUntil(() => good() === 51);
  // also while messages that failed before are due again
  await pass(10_000);
  await put('good', `http://good.test:${port}/`, { last: true });
  await waitUntil(() => good() === 52);
  await waitUntil(async () => expect(await readWaiting(database.pool)).toMatchObject({ count: 500 }));
});

test('what a process leaves when it stops, another one sends', async () => {
  let isHanging = true;
  const { port, received } = await receiver((_request, response) => {
    if (!isHanging) response.end();
  });
  await put('order 1', `http://shop.test:${port}/`, {});
  const first = startSending(database);
  await waitUntil(() => received.length === 1);
  await first.stop();
  isHanging = false;
  expect((await feed('order 1'))[0]).toMatchObject({ state: 'waiting', tries: 0 });
  sending();
  await allSettled();
  expect(received).toHaveLength(2);
  expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id']);
});

test('a URL that leads to a private network is not asked', async () => {
  const { port, received } = await receiver();
  const http = new OutgoingHttp({
    lookup: ((_name: string, _options: object, callback: (...given: unknown[]) => void) =>
      callback(null, [{ address: '::ffff:127.0.0.1', family: 6 }])) as never,
  });
  await put('order 1', `http://127.0.0.1:${port}/`, {});
  await put('order 2', `http://rebound.test:${port}/`, {});
  sending({ http });
  for (const subject of ['order 1', 'order 2']) {
    await waitUntil(async () =>
      expect((await feed(subject))[0]).toMatchObject({
        state: 'waiting',
        status: null,
        error: 'The URL leads to an IP address that is not public.',
      }),
    );
  }
  expect(received).toEqual([]);
  await http.close();
});

test('messages and hosts of more than 30 days ago are forgotten, and sequences continue', async () => {
  const { port } = await receiver();
  const url = `http://shop.test:${port}/`;
  await put('order 1', url, { n: 1 });
  const first = startSending(database);
  await allSettled();
  await first.stop();
  await database.pool.query("UPDATE service.webhooks SET created_at = now() - interval '31 days'");
  await put('order 2', null, {});
  sending();
  await waitUntil(async () => expect(await feed('order 1')).toEqual([]));
  expect(await feed('order 2')).toHaveLength(1);
  expect(await put('order 1', url, { n: 2 })).toBe(2);
});

test('a process with another secret sends nothing, and says why', async () => {
  const { port, received } = await receiver();
  const first = startSending(database);
  await waitUntil(async () => expect(await readPublicKeys(database.pool)).toHaveLength(1));
  await first.stop();
  const problems: (string | null)[] = [];
  await put('order 1', `http://shop.test:${port}/`, {});
  const other = Buffer.alloc(32, 2);
  sending({
    keys: () => Promise.resolve(new WebhookKeys(other)),
    onProblem: (problem: AppError | null) => problems.push(problem?.code ?? null),
  });
  await waitUntil(() => problems.length === 1);
  expect(problems).toEqual(['service_secret_differs']);
  expect(received).toEqual([]);
  // if there is an old secret too, messages are signed with both secrets
  sending({ keys: () => Promise.resolve(new WebhookKeys(other, Buffer.alloc(32, 1))) });
  await allSettled();
  expect(String(received[0]?.headers['webhook-signature']).split(' ')).toHaveLength(2);
});
