import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { type CliProcess, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
/** An example address of BIP 173. */
const addressScript = Buffer.from('0014751e76e8199196d454941c45d1b3a323f1433bd6', 'hex');
const readyLine = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;

let bitcoind: Bitcoind;
let databaseUrl: string;
let readerUrl: string;
let made = 0;
const processes: CliProcess[] = [];

async function onServer(statement: string): Promise<void> {
  const client = await connectClient(inject('testServer').url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function start(role: string): CliProcess {
  const node = ['--node', bitcoind.rpcUrl, '--cookie-file', bitcoind.cookieFile];
  // a process that answers strangers does not know the writer's database URL
  const writer = role === 'api' ? {} : { DATABASE_URL: databaseUrl };
  const started = startCli(['serve', '--role', role, ...node, '--port', '0'], {
    ...writer,
    DATABASE_READER_URL: readerUrl,
  });
  processes.push(started);
  return started;
}

async function addressOf(service: CliProcess): Promise<string> {
  const [, found = ''] = await service.seen(readyLine);
  return found;
}

async function json(at: string, path: string): Promise<Record<string, unknown>> {
  const answer = await fetch(new URL(path, at));
  return (await answer.json()) as Record<string, unknown>;
}

async function until(look: () => Promise<unknown>, expected: unknown, withinMs = 60_000): Promise<void> {
  await waitUntil(async () => expect(await look()).toBe(expected), { limitMs: withinMs, everyMs: 50 });
}

const databaseWith = async <Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> => {
  const client = await connectClient(databaseUrl);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};
const watchAddress = (sinceHeight: number): Promise<void> =>
  databaseWith((client) =>
    withTransaction(client, (tx) =>
      watchScripts(tx, 'roles', [{ script: addressScript, sinceHeight: asHeight(sinceHeight) }]),
    ),
  );
/** The height of the only payment that was seen. */
const paidAt = (): Promise<unknown> =>
  databaseWith(async (client) => (await readPayments(client, 'roles'))[0]?.block?.height);
const height = async (at: string): Promise<unknown> => (await json(at, '/status'))['height'];
const state = async (at: string): Promise<unknown> => (await json(at, '/health/ready'))['state'];

describe.skipIf(bitcoindForTests() === null)('processes of one database', () => {
  beforeAll(async () => {
    bitcoind = await startBitcoind();
    await bitcoind.rpc.call('generatetoaddress', [5, address]);
  });
  afterAll(() => bitcoind.remove());

  beforeEach(async () => {
    const name = `roles_${process.pid}_${made++}`;
    const writer = new URL(inject('testServer').writerUrl);
    const reader = new URL(inject('testServer').readerUrl);
    await onServer(`CREATE DATABASE ${name} OWNER ${writer.username}`);
    for (const url of [writer, reader]) url.pathname = `/${name}`;
    databaseUrl = writer.href;
    readerUrl = reader.href;
  });
  afterEach(async () => {
    for (const { child, ended } of processes.splice(0)) {
      child.kill('SIGTERM');
      await ended;
    }
    await onServer(`DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)} WITH (FORCE)`);
  });

  test('answer from any number, index in one, and a second indexer takes over if the first one dies', async () => {
    // the process runs before the database is migrated, and waits
    const api = start('api');
    const first = start('indexer');
    const at = await addressOf(api);
    const atFirst = await addressOf(first);
    expect(await state(atFirst)).toBe('following');
    await until(() => height(at), 5);
    expect((await fetch(new URL('/health/ready', at))).status).toBe(200);
    expect((await fetch(new URL('/search?text=a', atFirst))).status).toBe(200);
    expect(await json(atFirst, '/search?text=a')).toEqual({ status: 'error', error: 'there is no /search' });

    const second = start('indexer');
    const other = start('api');
    const atSecond = await addressOf(second);
    await until(() => state(atSecond), 'standby');
    expect(await json(atSecond, '/health/ready')).toMatchObject({ status: 'ok', role: 'indexer' });
    await watchAddress(6);
    first.child.kill('SIGKILL');
    await first.ended;
    await bitcoind.rpc.call('generatetoaddress', [1, address]);
    await until(() => height(at), 6);
    // the second process also follows payments
    await until(paidAt, 6);
    await until(() => state(atSecond), 'following');
    expect(await height(await addressOf(other))).toBe(6);

    second.child.kill('SIGTERM');
    const { exitCode, stderr } = await second.ended;
    expect(exitCode).toBe(0);
    expect(stderr).toContain('on standby');
    // no process indexes any more, and the other processes report this while they answer
    const answer = await fetch(new URL('/health/ready', at));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ reasons: [{ code: 'indexer_gone' }], height: 6 });
    expect(await height(at)).toBe(6);
  });

  test('of role api and indexer are refused without DATABASE_URL', async () => {
    for (const role of ['api', 'indexer']) {
      const { exitCode, stderr } = await startCli(['serve', '--role', role]).ended;
      expect(exitCode).toBe(2);
      expect(stderr).toContain(
        role === 'api' ? 'ROLE api needs DATABASE_READER_URL' : `ROLE ${role} needs DATABASE_URL`,
      );
    }
  });

  test('that answer wait for the rights of their role, and show the statements that grant them', async () => {
    // this process indexes, and does not know the role
    const node = ['--node', bitcoind.rpcUrl, '--cookie-file', bitcoind.cookieFile];
    const indexer = startCli(['serve', '--role', 'indexer', ...node, '--port', '0'], {
      DATABASE_URL: databaseUrl,
    });
    processes.push(indexer);
    await addressOf(indexer);
    expect(indexer.stderr()).toContain('DATABASE_READER_URL is not set');
    const api = start('api');
    await waitUntil(() => api.stderr().includes('database_reader_rights'));
    const { reason } = JSON.parse(
      api
        .stderr()
        .split('\n')
        .find((line) => line.includes('database_reader_rights')) ?? '',
    ) as { reason: string };
    await databaseWith((client) => client.query(reason.slice(reason.indexOf('GRANT '))));
    const at = await addressOf(api);
    await until(() => height(at), await bitcoind.rpc.call('getblockcount', []));
  });

  test('warn about a role that may do more than answers need', async () => {
    const name = new URL(databaseUrl).pathname.slice(1);
    await onServer(`GRANT CREATE ON DATABASE ${name} TO ${new URL(readerUrl).username}`);
    const indexer = start('indexer');
    await addressOf(indexer);
    expect(indexer.stderr()).toContain(
      'has more rights than answers need, because it may create schemas in this database',
    );
    await onServer(`REVOKE CREATE ON DATABASE ${name} FROM ${new URL(readerUrl).username}`);
  });

  test('report, if they answer, why nothing arrives while the node is missing', async () => {
    const first = start('indexer');
    await addressOf(first);
    first.child.kill('SIGTERM');
    await first.ended;
    await bitcoind.stop();
    try {
      start('indexer');
      const at = await addressOf(start('api'));
      const code = async (): Promise<unknown> => {
        const { reasons } = (await json(at, '/health/ready')) as { reasons?: { code: string }[] };
        return reasons?.[0]?.code;
      };
      await until(code, 'node_unreachable');
      expect((await fetch(new URL('/search?text=a', at))).status).toBe(200);
    } finally {
      await bitcoind.start();
    }
  });
});
