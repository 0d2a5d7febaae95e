import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type CliProcess, type CliResult, startCli } from '#test/support/run-cli.ts';

const readyLine = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;
const sample = ['serve', '--blocks', 'samples/regtest', '--port', '0'];

let database: TestDatabase;
const processes: CliProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const { child, ended } of processes.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
  await database.drop();
});

/** With a database of its own, in the server that all tests share. */
function start(words: readonly string[]): CliProcess {
  const started = startCli(words, { DATABASE_URL: database.url });
  processes.push(started);
  return started;
}

async function addressOf(service: CliProcess): Promise<string> {
  const [, found = ''] = await service.seen(readyLine);
  return found;
}

async function until<T>(look: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (performance.now() > deadline) throw new Error(`never so: ${JSON.stringify(value)}`);
    await sleep(50);
  }
}

async function terminated(service: CliProcess): Promise<CliResult & { seconds: number }> {
  const startedAt = performance.now();
  service.child.kill('SIGTERM');
  const result = await service.ended;
  return { ...result, seconds: (performance.now() - startedAt) / 1000 };
}

/** What holds a lock that readers wait for, so that a search takes as long as we like. */
async function blockReaders(): Promise<{ end(): Promise<void> }> {
  const client = await connectClient(database.url);
  await client.query('BEGIN; LOCK TABLE chain.contents IN ACCESS EXCLUSIVE MODE');
  return { end: () => client.end() };
}

describe('SIGTERM', () => {
  test('while a search takes long ends it, and everything else in order, with 0', async () => {
    const service = start(sample);
    const at = await addressOf(service);
    const lock = await blockReaders();
    const search = fetch(new URL('/search?text=a', at)).then(
      async (answer) => ({ status: answer.status, body: await answer.text() }),
      () => ({ status: 0, body: '' }),
    );
    await sleep(500);
    const { exitCode, seconds, stderr } = await terminated(service);
    expect({ exitCode, late: stderr.includes('did not end in time') }).toEqual({ exitCode: 0, late: false });
    expect(seconds).toBeLessThan(25);
    // it got an answer, or nothing; never a wrong one
    expect([0, 500, 503, 504]).toContain((await search).status);
    await lock.end();
  });

  test('while a search is about to be done lets it be answered', async () => {
    const service = start(sample);
    const at = await addressOf(service);
    const lock = await blockReaders();
    const search = fetch(new URL('/search?text=a', at));
    await sleep(500);
    const ending = terminated(service);
    await sleep(500);
    await lock.end();
    expect((await search).status).toBe(200);
    expect(await ending).toMatchObject({ exitCode: 0 });
  });

  test('while a stream of events is open cuts it off, with 0', async () => {
    const service = start(sample);
    const at = await addressOf(service);
    const answer = await fetch(new URL('/events', at), { headers: { accept: 'text/event-stream' } });
    expect(answer.status).toBe(200);
    const reader = answer.body!.getReader();
    const end = (async () => {
      for (;;) if ((await reader.read()).done) return;
    })().catch(() => undefined);
    const { exitCode, seconds } = await terminated(service);
    await end;
    expect(exitCode).toBe(0);
    expect(seconds).toBeLessThan(20);
  });

  test('while blocks come in finishes what is being written, with what was written before the end', async () => {
    const service = start(sample);
    const at = await until(
      async () => /Server listening at (http:\S+?)"/u.exec(service.stderr())?.[1] ?? null,
      (found) => found !== null,
    );
    expect(at).not.toBeNull();
    const { exitCode, signal } = await terminated(service);
    // it had not been ready
    expect({ exitCode, signal }).toEqual({ exitCode: 143, signal: null });
    const again = start(sample);
    expect((await fetch(new URL('/health/ready', await addressOf(again)))).status).toBe(200);
  });
});

describe('an embedded Postgres that is killed', () => {
  let folder: { path: string; remove(): Promise<void> };
  beforeEach(async () => {
    folder = await makeDataDir();
  });
  afterEach(() => folder.remove());

  test('is started again, while the service says that it is gone', async () => {
    const service = startCli([...sample, '--data', folder.path]);
    processes.push(service);
    const at = await addressOf(service);
    const readServer = async (): Promise<{ port: number; serverPid: number }> =>
      JSON.parse(await readFile(join(folder.path, 'postgres-connection.json'), 'utf8')) as {
        port: number;
        serverPid: number;
      };
    const before = await readServer();
    const seen = new Set<number>();
    const ready = async (): Promise<number> => {
      const { status } = await fetch(new URL('/health/ready', at));
      seen.add(status);
      return status;
    };
    expect(await ready()).toBe(200);
    process.kill(before.serverPid, 'SIGKILL');
    await until(ready, (status) => status === 503);
    const reasons = async (): Promise<string[]> => {
      const answer = await fetch(new URL('/health/ready', at));
      const body = (await answer.json()) as { reasons?: { code: string }[] };
      return (body.reasons ?? []).map(({ code }) => code);
    };
    await until(reasons, (codes) => codes.includes('postgres_lost'));
    await until(ready, (status) => status === 200);
    const after = await readServer();
    expect(after.port).toBe(before.port);
    expect(after.serverPid).not.toBe(before.serverPid);
    const search = await fetch(new URL('/search?text=a', at));
    expect(search.status).toBe(200);
    const { exitCode, stderr } = await terminated(service);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('postgres_lost');
    expect(stderr).not.toContain('secretKey');
  });
});
