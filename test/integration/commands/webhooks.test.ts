import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { type DataDir, makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type CliProcess, runCli, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { within } from '#test/support/webhooks/sending.ts';
import { putWebhook } from '#webhooks/outbox.ts';
import { readWaiting } from '#webhooks/webhooks.queries.ts';

let database: TestDatabase;
let receiver: Receiver;
let data: DataDir;
let service: CliProcess | null = null;
let status = 200;

beforeEach(async () => {
  database = await createTestDatabase();
  await insertChain(database.pool, [], 'regtest');
  receiver = await startReceiver((_request, response) => response.writeHead(status).end());
  data = await makeDataDir();
});
afterEach(async () => {
  service?.child.kill('SIGKILL');
  await service?.ended;
  service = null;
  await receiver.close();
  await database.drop();
  await data.remove();
});

const environment = () => ({ ...database.settings, DATA_DIR: data.path });
const cli = async (...words: string[]) => runCli(['webhooks', ...words], environment());
const put = (subject: string, body: object) =>
  within(database, (tx) =>
    putWebhook(tx, { subject, url: `http://127.0.0.1:${receiver.port}/hook?token=1`, body }),
  );
async function serve(env: Record<string, string> = {}): Promise<string> {
  service = startCli(['serve', '--role', 'orders', '--port', '0'], {
    ...environment(),
    ALLOW_PRIVATE_URLS: 'true',
    ...env,
  });
  const [, address = ''] = await service.seen(/^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u);
  return address;
}
const nothingWaits = () =>
  waitUntil(async () => expect(await readWaiting(database.pool)).toMatchObject({ count: 0 }));

test('the role orders sends, counts its tries and makes a secret for its owner alone', async () => {
  status = 200;
  await put('order 1', { n: 1 });
  const address = await serve();
  await nothingWaits();
  expect(receiver.received.map(({ target }) => target)).toEqual(['/hook?token=1']);
  expect(receiver.received[0]?.headers['user-agent']).toMatch(/^satscribe\/\d/u);
  const secret = join(data.path, 'service-secret');
  expect((await stat(secret)).mode & 0o777).toBe(0o600);
  expect(await readFile(secret)).toHaveLength(32);
  await waitUntil(async () => {
    const metrics = await (await fetch(new URL('/metrics', address))).text();
    expect(metrics).toMatch(/^satscribe_webhook_tries_total\{result="delivered"\} 1$/mu);
    expect(metrics).toMatch(/^satscribe_webhooks_waiting 0$/mu);
  });
  expect((await fetch(new URL('/webhooks/keys', address))).status).toBe(404);
  service?.child.kill('SIGTERM');
  expect(await service?.ended).toMatchObject({ exitCode: 0 });
});

test('messages are listed with their tries, and sent again', async () => {
  status = 503;
  await put('order 1', { n: 1 });
  await put('order 2', { n: 1 });
  await serve();
  await waitUntil(() => receiver.received.length === 2);
  await waitUntil(async () =>
    expect((await cli('list')).stdout).toMatch(/order 1 #1 .*\d+ (try|tries), last 503, next /u),
  );
  const { stdout } = await cli('list', '--subject', 'order 2', '--state', 'waiting', '--json');
  const [listed, ...others] = JSON.parse(stdout) as Record<string, unknown>[];
  expect(others).toEqual([]);
  expect(listed).toMatchObject({
    subject: 'order 2',
    sequence: 1,
    url: `http://127.0.0.1:${receiver.port}/hook?token=1`,
    body: '{"n":1}',
    state: 'waiting',
    status: 503,
    error: null,
  });
  status = 204;
  expect((await cli('replay', '--subject', 'order 2')).stdout).toBe('1 message will be sent again\n');
  await nothingWaits();
  const before = receiver.received.length;
  const replayed = await cli('replay', '--subject', 'order 1', '--from', '1', '--json');
  expect(JSON.parse(replayed.stdout)).toEqual({ subject: 'order 1', from: 1, replayed: 1 });
  await nothingWaits();
  expect(receiver.received).toHaveLength(before + 1);
});

test('if the secret is lost, a command takes another one', async () => {
  status = 200;
  await serve();
  await waitUntil(async () =>
    expect((await database.pool.query('TABLE service.webhook_keys')).rowCount).toBe(1),
  );
  service?.child.kill('SIGTERM');
  await service?.ended;
  await rm(join(data.path, 'service-secret'));
  await put('order 1', {});
  await serve();
  await waitUntil(() => service?.stderr().includes('service_secret_differs') === true);
  expect(receiver.received).toEqual([]);
  const { stdout } = await cli('rekey', '--json');
  const { keys } = JSON.parse(stdout) as { keys: string[] };
  expect(keys).toEqual([expect.stringMatching(/^whpk_/u)]);
  service?.child.kill('SIGTERM');
  await service?.ended;
  await serve();
  await nothingWaits();
  expect(receiver.received).toHaveLength(1);
});

test.each([
  [[], 'missing subcommand; use satscribe webhooks list, replay or rekey'],
  [['send'], 'unknown subcommand send; use satscribe webhooks list, replay or rekey'],
  [['list', 'all'], 'unexpected word all'],
  [['list', '--from', '1'], '--from is not a flag of satscribe webhooks list'],
  [['list', '--state', 'lost'], '--state lost must be one of waiting, delivered, given-up, gone, no-url'],
  [['list', '--limit', '0'], '--limit 0 must be an integer from 1 to 100000'],
  [['replay'], 'missing subject'],
  [['replay', '--subject', 'order 1', '--from', 'first'], '--from first must be an integer'],
])('wrong usage %j is refused', async (words, message) => {
  const { exitCode, stderr } = await cli(...words);
  expect({ exitCode, isSaid: stderr.includes(message) }).toEqual({ exitCode: 2, isSaid: true });
});

test('a replay of an unknown subject is an error', async () => {
  const { exitCode, stderr } = await cli('replay', '--subject', 'order 9');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('webhooks_unknown');
});
