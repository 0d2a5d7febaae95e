import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { type DataDir, makeUsedDataDir } from '#test/support/data-dir.ts';
import {
  createFilledDatabase,
  createTestDatabase,
  type FilledDatabase,
  type TestDatabase,
} from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { type CliProcess, type CliResult, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const readyLine = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;
const sample = ['serve', '--blocks', 'samples/regtest', '--port', '0'];

let indexed: FilledDatabase;
let database: TestDatabase;
const processes: CliProcess[] = [];

beforeAll(async () => {
  indexed = await createFilledDatabase(async ({ pool }) => {
    const source = await openFolderSource('samples/regtest');
    await follow({ source, pool, signal: new AbortController().signal, threads: parseThreads() });
  });
});
afterAll(() => indexed?.drop());

beforeEach(async () => {
  database = await indexed.clone();
});
afterEach(async () => {
  for (const { child, ended } of processes.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
  await database.drop();
});

/** Starts a process with its own database, on the server that all tests share. */
function start(words: readonly string[]): CliProcess {
  const started = startCli(words, database.settings);
  processes.push(started);
  return started;
}

async function addressOf(service: CliProcess): Promise<string> {
  const [, found = ''] = await service.seen(readyLine);
  return found;
}

async function until<T>(look: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  return waitUntil(async () => {
    const value = await look();
    if (!holds(value)) throw new Error(`never so: ${JSON.stringify(value)}`);
    return { value };
  }).then(({ value }) => value);
}

async function terminated(service: CliProcess): Promise<CliResult & { seconds: number }> {
  const startedAt = performance.now();
  service.child.kill('SIGTERM');
  const result = await service.ended;
  return { ...result, seconds: (performance.now() - startedAt) / 1000 };
}

interface ReadersLock {
  /** Settles when a reader waits for the lock. */
  whenWaitedFor(): Promise<void>;
  end(): Promise<void>;
}

/** Holds a lock that readers wait for, so that a search can take any time. */
async function blockReaders(): Promise<ReadersLock> {
  const client = await connectClient(database.url);
  await client.query('BEGIN; LOCK TABLE chain.contents IN ACCESS EXCLUSIVE MODE');
  const isWaitedFor = async (): Promise<boolean> => {
    const { rows } = await client.query<{ waits: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_locks l WHERE l.relation = 'chain.contents'::regclass AND NOT l.granted
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS waits`,
    );
    return rows[0]!.waits;
  };
  return {
    whenWaitedFor: async () => {
      await waitUntil(isWaitedFor);
    },
    end: () => client.end(),
  };
}

describe('SIGTERM', () => {
  test('during a long search ends it, and everything else in order, with 0', async () => {
    const service = start(sample);
    const at = await addressOf(service);
    const lock = await blockReaders();
    const search = fetch(new URL('/search?text=a', at)).then(
      async (answer) => ({ status: answer.status, body: await answer.text() }),
      () => ({ status: 0, body: '' }),
    );
    await lock.whenWaitedFor();
    const { exitCode, seconds, stderr } = await terminated(service);
    expect({ exitCode, late: stderr.includes('did not end in time') }).toEqual({ exitCode: 0, late: false });
    expect(seconds).toBeLessThan(25);
    // the client got a response or nothing, but never a wrong response
    expect([0, 500, 503, 504]).toContain((await search).status);
    await lock.end();
  });

  test('while a search is nearly done lets it be answered', async () => {
    const service = start(sample);
    const at = await addressOf(service);
    const lock = await blockReaders();
    const search = fetch(new URL('/search?text=a', at));
    await lock.whenWaitedFor();
    const ending = terminated(service);
    // by now, the process refuses all connections
    await waitUntil(async () => {
      const { ok } = await fetch(new URL('/health/ready', at)).catch(() => ({ ok: false }));
      return !ok;
    });
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

  test('while blocks arrive finishes the present write, with everything written before the end', async () => {
    await database.drop();
    database = await createTestDatabase();
    const service = start(sample);
    const at = await until(
      async () => /Server listening at (http:\S+?)"/u.exec(service.stderr())?.[1] ?? null,
      (found) => found !== null,
    );
    expect(at).not.toBeNull();
    const { exitCode, signal } = await terminated(service);
    // the process was not ready yet
    expect({ exitCode, signal }).toEqual({ exitCode: 143, signal: null });
    const again = start(sample);
    expect((await fetch(new URL('/health/ready', await addressOf(again)))).status).toBe(200);
  });
});

describe('an embedded Postgres that is killed', () => {
  let folder: DataDir;
  beforeEach(async () => {
    folder = await makeUsedDataDir();
  });
  afterEach(() => folder.remove());

  test('is started again, while the service reports that it is gone', async () => {
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
