import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  attachEmbeddedPostgres,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '#embedded-postgres/embedded-postgres.ts';
import { keepRunning } from '#embedded-postgres/keep-running.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { type DataDir, makeDataDir, makeUsedDataDir } from '#test/support/data-dir.ts';

let dataDir: string;
let folder: DataDir;
const running: { stop(): Promise<void> }[] = [];
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await makeUsedDataDir();
  dataDir = folder.path;
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of running.splice(0)) await server.stop();
  await folder.remove();
});

async function start(path = dataDir): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir: path, durable: false });
  running.push(server);
  return server;
}

async function ask(url: string, sql: string): Promise<unknown> {
  const client = await connectClient(url);
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows[0] === undefined ? undefined : Object.values(rows[0])[0];
  } finally {
    await client.end();
  }
}

/** Starts a process that owns the embedded server of the folder. Returns the process and the server's URL. */
async function startOwner(): Promise<{ owner: ChildProcess; url: string }> {
  const owner = spawn(process.execPath, ['test/support/postgres/postgres-owner.ts', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(owner);
  const [line] = (await once(owner.stdout!, 'data')) as [Buffer];
  return { owner, url: line.toString().trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function postmasterPid(): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
}

describe('a fresh embedded Postgres', () => {
  let own: DataDir;
  let server: EmbeddedPostgres;

  beforeAll(async () => {
    own = await makeDataDir();
    server = await startEmbeddedPostgres({ dataDir: own.path });
  });
  afterAll(async () => {
    await server?.stop();
    await own.remove();
  });

  test('keeps text as UTF8 in code point order, whatever the locale of the host', async () => {
    const { url } = server;
    expect(await ask(url, 'SHOW server_encoding')).toBe('UTF8');
    expect(
      await ask(
        url,
        'SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = current_database()',
      ),
    ).toBe('bC.UTF-8');
    expect(await ask(url, "SELECT array_agg(x ORDER BY x) FROM unnest(ARRAY['a','B','é','Z']) x")).toEqual([
      'B',
      'Z',
      'a',
      'é',
    ]);
  });

  test('refuses access without the password, which only its account can read', async () => {
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(connectClient(wrong.href)).rejects.toMatchObject({ code: 'postgres_refused' });
    for (const file of ['password', 'password-satscribe_writer', 'password-satscribe_reader']) {
      expect((await stat(join(own.path, 'postgres', file))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(join(own.path, 'postgres'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(own.path, 'postgres-connection.json'))).mode & 0o777).toBe(0o600);
  });

  test('listens only on 127.0.0.1 and keeps commits by default', async () => {
    expect(await ask(server.url, 'SHOW listen_addresses')).toBe('127.0.0.1');
    expect(await ask(server.superuserUrl, 'SHOW unix_socket_directories')).toBe('');
    expect(await ask(server.url, 'SHOW fsync')).toBe('on');
    expect(await ask(server.url, 'SHOW synchronous_commit')).toBe('on');
  });

  test('has one owner when several start at once', async () => {
    const started = await Promise.allSettled(
      Array.from({ length: 4 }, () => start(join(dataDir, 'not there yet'))),
    );
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('may have blanks, quotes and other letters in the name of its folder', async () => {
    const odd = await start(join(dataDir, `my "data" 'é' $HOME`));
    expect(await ask(odd.url, 'SELECT 1')).toBe(1);
  });
});

describe('owner and guests of a data folder', () => {
  test('refuses a second owner and lets others attach until the owner stops', async () => {
    const { url, stop } = await start();
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
      code: 'data_dir_busy',
      details: { pid: process.pid },
    });
    const guest = await attachEmbeddedPostgres(dataDir);
    expect(guest.url).toBe(url);
    expect(await ask(guest.url, 'SELECT 1')).toBe(1);
    await stop();
    await expect(attachEmbeddedPostgres(dataDir)).rejects.toMatchObject({ code: 'postgres_not_running' });
  });

  test('finds what was stored at the next start', async () => {
    const first = await start();
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await ask(second.url, 'SELECT answer FROM kept')).toBe(42);
  });

  test('stops once, no matter how often it is stopped', async () => {
    const { stop } = await start();
    await Promise.all([stop(), stop()]);
    await stop();
    await expect(access(join(dataDir, 'postgres/data/postmaster.pid'))).rejects.toThrow('ENOENT');
  });
});

describe('after a kill', () => {
  test('takes over the server that a killed owner left running', async () => {
    const { owner, url } = await startOwner();
    await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await kill(owner);
    const server = await start();
    expect(server.adopted).toBe(true);
    expect(await ask(server.url, 'SELECT answer FROM kept')).toBe(42);
    await server.stop();
    await expect(ask(url, 'SELECT 1')).rejects.toMatchObject({ code: 'postgres_unreachable' });
  });

  test('recovers what was committed when owner and server were killed', async () => {
    const { owner, url } = await startOwner();
    await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const pid = await postmasterPid();
    await kill(owner);
    process.kill(pid, 'SIGKILL');
    const server = await start();
    expect(server.adopted).toBe(false);
    expect(await ask(server.url, 'SELECT answer FROM kept')).toBe(42);
  });

  test('is not misled by a process number that another program has now', async () => {
    const first = await start();
    await first.stop();
    const lines = [process.pid, join(dataDir, 'postgres/data'), 1, 5432, '', '127.0.0.1', '', 'ready'];
    await writeFile(join(dataDir, 'postgres/data/postmaster.pid'), lines.join('\n'));
    await writeFile(
      join(dataDir, 'satscribe.lock'),
      JSON.stringify({ pid: process.pid, startedAt: 'before' }),
    );
    const second = await start();
    expect(await ask(second.url, 'SELECT 1')).toBe(1);
  });
});

describe('a data folder that cannot be used', () => {
  test('says so when it is of another version of PostgreSQL', async () => {
    const first = await start();
    await first.stop();
    await writeFile(join(dataDir, 'postgres/data/PG_VERSION'), '17\n');
    await expect(start()).rejects.toMatchObject({
      code: 'postgres_version',
      details: { found: '17', expected: '18' },
    });
  });

  test('says so when it is a file', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    await expect(start(file)).rejects.toMatchObject({ code: 'data_dir_unusable' });
  });

  test('shows the lines of the log if the server does not start, and works once that is mended', async () => {
    const first = await start();
    await first.stop();
    await writeFile(join(dataDir, 'postgres/data/postgresql.auto.conf'), 'shared_buffers = nonsense\n');
    const error: unknown = await start().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'postgres_start_failed' });
    expect((error as Error).message).toContain('shared_buffers');
    await writeFile(join(dataDir, 'postgres/data/postgresql.auto.conf'), '');
    expect(await ask((await start()).url, 'SELECT 1')).toBe(1);
  });
});

describe('a copy of a data folder', () => {
  test('that was in use does not lead to the server of the original', async () => {
    const copy = join(dataDir, 'copy');
    const { url } = await start();
    await mkdir(copy);
    await cp(join(dataDir, 'postgres-connection.json'), join(copy, 'postgres-connection.json'));
    await expect(attachEmbeddedPostgres(copy)).rejects.toMatchObject({ code: 'postgres_not_running' });
    expect((await attachEmbeddedPostgres(dataDir)).url).toBe(url);
  });
});

describe('a server that is watched over', () => {
  test('is started again at the same port when it has died, with what was committed', async () => {
    const server = await startEmbeddedPostgres({ dataDir });
    running.push(server);
    await ask(server.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const controller = new AbortController();
    const problems: (string | null)[] = [];
    const again = Promise.withResolvers<void>();
    const watching = keepRunning(server, {
      signal: controller.signal,
      onProblem: (problem) => {
        problems.push(problem?.code ?? null);
        if (problem === null) again.resolve();
      },
    });
    process.kill(await postmasterPid(), 'SIGKILL');
    await Promise.race([again.promise, watching]);
    expect(await ask(server.url, 'SELECT answer FROM kept')).toBe(42);
    expect(problems[0]).toBe('postgres_lost');
    expect(problems.at(-1)).toBeNull();
    controller.abort();
    await watching;
  });

  test('is given up if it does not start', async () => {
    const server = await startEmbeddedPostgres({ dataDir });
    running.push(server);
    const pid = await postmasterPid();
    await writeFile(join(dataDir, 'postgres/data/postgresql.auto.conf'), 'shared_buffers = nonsense\n');
    const watching = keepRunning(server, {
      signal: new AbortController().signal,
      onProblem: () => undefined,
    });
    process.kill(pid, 'SIGKILL');
    await expect(watching).rejects.toMatchObject({ code: 'postgres_start_failed' });
  });
});

describe.runIf(process.getuid?.() === 0)('as root in a folder of mode 700', () => {
  test('puts the database where its account can reach it, finds it again, even after a move, and does not share it with a copy', async () => {
    const hidden = join(dataDir, 'hidden');
    await mkdir(hidden);
    await chmod(hidden, 0o700);
    const place = join(hidden, 'data');
    const first = await start(place);
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    expect((await attachEmbeddedPostgres(place)).url).toBe(first.url);
    await first.stop();
    const { home } = JSON.parse(await readFile(join(place, 'postgres-location.json'), 'utf8')) as {
      home: string;
    };
    const moved = join(hidden, 'moved');
    try {
      const copy = join(hidden, 'copy');
      await cp(place, copy, { recursive: true });
      await expect(start(copy)).rejects.toMatchObject({ code: 'data_dir_unusable', details: { home } });
      await rename(place, moved);
      const second = await start(moved);
      expect(await ask(second.url, 'SELECT answer FROM kept')).toBe(42);
      expect((await attachEmbeddedPostgres(moved)).url).toBe(second.url);
      // the copy is still refused after the original folder was moved
      await expect(start(copy)).rejects.toMatchObject({ code: 'data_dir_unusable' });
      await second.stop();
    } finally {
      await rm(home, { recursive: true, force: true });
    }
    await expect(start(moved)).rejects.toMatchObject({ code: 'data_dir_unusable' });
  });
});
