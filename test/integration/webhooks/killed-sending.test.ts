import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { webhookFailpoints } from '#kernel/process/failpoint.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { machineEnvironment } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { startSending, within } from '#test/support/webhooks/sending.ts';
import { putWebhooks } from '#webhooks/outbox.ts';
import { readWaiting, readWebhooks } from '#webhooks/webhooks.queries.ts';

const processFile = new URL('../../support/webhooks/sending-process.ts', import.meta.url).pathname;
const leaseMs = 60_000;

let database: TestDatabase;
let receiver: Receiver;
beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await database.drop();
});

test.each(webhookFailpoints)(
  'a process that is killed at %s loses no message, and repeats one only with its id',
  async (point) => {
    const url = `http://shop.test:${receiver.port}/`;
    const messages = [1, 2, 3].map((n) => ({ n }));
    await within(database, (tx) => putWebhooks(tx, { subject: 'order 1', url }, messages));
    const child = spawn(process.execPath, [processFile, database.url, point], {
      env: machineEnvironment(),
      stdio: 'ignore',
    });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    // once the first message is marked as sent, the second one may already be on its way
    const before = { 'webhook-taken': [0], 'webhook-sent': [1], 'webhook-marked': [1, 2] }[point];
    expect(before).toContain(receiver.received.length);
    const sending = startSending(database);
    // the lease of the dead process ends
    await sending.pass(leaseMs);
    await waitUntil(async () => expect(await readWaiting(database.pool)).toMatchObject({ count: 0 }));
    await sending.stop();
    const told = receiver.received.map(
      ({ body, headers }) => `${body.toString()} ${String(headers['webhook-id'])}`,
    );
    const expected = (await readWebhooks(database.pool, 'order 1', 0, 10)).map(
      ({ body, id }) => `${body} ${id}`,
    );
    expect([...new Set(told)]).toEqual(expected);
    const lengths = { 'webhook-taken': [3], 'webhook-sent': [4], 'webhook-marked': [3, 4] }[point];
    expect(lengths).toContain(told.length);
  },
);
