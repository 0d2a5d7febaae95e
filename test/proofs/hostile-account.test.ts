import { execFileSync } from 'node:child_process';
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  attachEmbeddedPostgres,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '#embedded-postgres/embedded-postgres.ts';
import { type ServerAccount, serverAccount } from '#embedded-postgres/server-account.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { type DataDir, makeDataDir, makeUsedDataDir } from '#test/support/data-dir.ts';

const secret = 'root-alone-may-read-this';

let data: DataDir;
let victim: DataDir;
let account: ServerAccount;
let before: string;
let server: EmbeddedPostgres | null = null;

/** A folder that only root may enter. */
async function makeVictim(): Promise<void> {
  victim = await makeDataDir();
  await mkdir(join(victim.path, 'data'));
  for (const name of ['secret', 'data/PG_VERSION', 'postmaster.pid'])
    await writeFile(join(victim.path, name), secret, { mode: 0o600 });
  await chmod(victim.path, 0o700);
}

/** Owners, modes, sizes and contents of everything in the victim's folder. */
const stateOf = (dir: string): string =>
  execFileSync(
    'sh',
    [
      '-c',
      'find "$1" -printf "%p %U %m %s\\n" | sort; find "$1" -type f -exec sha256sum {} + | sort',
      'sh',
      dir,
    ],
    {
      encoding: 'utf8',
    },
  );

beforeEach(async () => {
  account = (await serverAccount(null)) as ServerAccount;
  await makeVictim();
  before = stateOf(victim.path);
});
afterEach(async () => {
  await server?.stop();
  server = null;
  await victim.remove();
  await data.remove();
});

/** A link that the account has made. */
async function plant(name: string, target: string): Promise<void> {
  const path = join(data.path, name);
  await rm(path, { recursive: true, force: true });
  await symlink(target, path);
  await lchown(path, account.uid, account.gid);
}

/** Starts a server. Returns the failure, or `null`. Checks that nothing of root's was touched or shown. */
async function start(): Promise<unknown> {
  let failure: unknown = null;
  const said: string[] = [];
  try {
    server = await startEmbeddedPostgres({
      dataDir: data.path,
      durable: false,
      log: (text) => said.push(text),
    });
    said.push(server.url);
  } catch (error) {
    failure = error;
    const { message, details } = error as { message: string; details?: unknown };
    said.push(message, JSON.stringify(details));
  }
  expect(stateOf(victim.path)).toBe(before);
  expect(said.join('\n')).not.toContain(secret);
  return failure;
}

async function answers(): Promise<unknown> {
  const client = await connectClient(server?.url ?? '');
  try {
    return (await client.query('SELECT 1 AS one')).rows[0];
  } finally {
    await client.end();
  }
}

describe.runIf(process.getuid?.() === 0)('as root, links that the account of the server has made', () => {
  describe('in its folder before there is a cluster', () => {
    beforeEach(async () => {
      data = await makeDataDir();
      await mkdir(join(data.path, 'postgres'), { mode: 0o700 });
      await chown(join(data.path, 'postgres'), account.uid, account.gid);
    });

    test.each([
      ['password', 'secret'],
      ['password', 'not there yet'],
      ['data.unfinished', ''],
      ['server.log', 'secret'],
    ])('are replaced or fail, and lead nowhere: %s to %j', async (name, target) => {
      await plant(join('postgres', name), join(victim.path, target));
      const failure = await start();
      if (failure === null) expect(await answers()).toEqual({ one: 1 });
      // pg_ctl writes the log as the account, which has no right to write there
      expect(failure === null).toBe(name !== 'server.log');
      if (name === 'password') {
        const password = await lstat(join(data.path, 'postgres/password'));
        expect([password.isFile(), password.uid, password.mode & 0o777]).toEqual([true, account.uid, 0o600]);
      }
    });

    test('as the cluster itself make neither a cluster nor an owner', async () => {
      await plant('postgres/data', victim.path);
      expect(await start()).toMatchObject({ code: expect.any(String) as string });
    });
  });

  describe('in its folder with a cluster', () => {
    beforeEach(async () => {
      data = await makeUsedDataDir();
    });

    test('are replaced where its configuration is', async () => {
      await plant('postgres/data/postgresql.conf', join(victim.path, 'secret'));
      expect(await start()).toBeNull();
      expect(await answers()).toEqual({ one: 1 });
      expect((await lstat(join(data.path, 'postgres/data/postgresql.conf'))).isFile()).toBe(true);
    });

    test.each([
      'postgres/password',
      'postgres/password-satscribe_writer',
      'postgres/password-satscribe_reader',
      'postgres/data/PG_VERSION',
      'postgres/data/postmaster.pid',
    ])('give nothing to read as %s', async (name) => {
      await plant(name, join(victim.path, 'secret'));
      await start();
    });

    test.each(['writer', 'reader'])('give no password of the %s to an attaching process', async (role) => {
      expect(await start()).toBeNull();
      await plant(`postgres/password-satscribe_${role}`, join(victim.path, 'secret'));
      const failure: unknown = await attachEmbeddedPostgres(data.path).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'postgres_not_running' });
      expect(JSON.stringify(failure)).not.toContain(secret);
    });

    test('show nothing as its log if the server does not start', async () => {
      await writeFile(join(data.path, 'postgres/data/postgresql.auto.conf'), 'shared_buffers = nonsense\n');
      await plant('postgres/server.log', join(victim.path, 'secret'));
      expect(await start()).toMatchObject({ code: 'postgres_start_failed' });
    });

    test('as the cluster do not run the server as another account', async () => {
      const other = await makeUsedDataDir();
      try {
        execFileSync('chown', ['-R', '65534:65534', join(other.path, 'postgres')]);
        const foreign = join(other.path, 'postgres/data');
        const untouched = stateOf(foreign);
        await plant('postgres/data', foreign);
        expect(await start()).not.toBeNull();
        expect(stateOf(foreign)).toBe(untouched);
      } finally {
        await other.remove();
      }
    });
  });

  describe('in a data folder of its own', () => {
    beforeEach(async () => {
      data = await makeDataDir();
      await chown(data.path, account.uid, account.gid);
    });

    test('as its own folder are refused: the folder does not get their content', async () => {
      await plant('postgres', victim.path);
      expect(await start()).toMatchObject({ code: 'data_dir_unusable' });
    });

    test('as a new folder of another one of root are refused, too', async () => {
      await mkdir(join(data.path, 'postgres'), { mode: 0o700 });
      await writeFile(join(data.path, 'postgres/of-root'), secret, { mode: 0o600 });
      expect(await start()).toMatchObject({ code: 'data_dir_unusable' });
      expect((await stat(join(data.path, 'postgres'))).uid).toBe(0);
    });

    test.each([
      `.probe-${process.pid}`,
      `postgres-connection.json.${process.pid}`,
      'postgres-connection.json',
    ])('are not written through: %s', async (name) => {
      await plant(name, join(victim.path, 'secret'));
      expect(await start()).toBeNull();
    });

    test.each(['satscribe.lock', 'postgres-location.json'])('are not read through: %s', async (name) => {
      await plant(name, join(victim.path, 'secret'));
      await start();
    });

    test('as a place elsewhere: the server goes into no folder of root', async () => {
      await writeFile(
        join(data.path, 'postgres-location.json'),
        JSON.stringify({ home: victim.path, dataDir: data.path }),
      );
      expect(await start()).not.toBeNull();
    });

    test('as a connection name neither a file to read nor another host', async () => {
      expect(await start()).toBeNull();
      const path = join(data.path, 'postgres-connection.json');
      const connection = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
      const hostile = { ...connection, host: '192.0.2.1', passwordFile: join(victim.path, 'secret') };
      await writeFile(path, JSON.stringify(hostile));
      const { url } = await attachEmbeddedPostgres(data.path);
      expect(url).toBe(server?.url);
    });
  });

  test('leave nothing unfinished behind', async () => {
    data = await makeUsedDataDir();
    await plant('postgres/data/postgresql.conf', join(victim.path, 'secret'));
    expect(await start()).toBeNull();
    const names = [...(await readdir(data.path)), ...(await readdir(join(data.path, 'postgres')))];
    expect(names.filter((name) => /[0-9a-f]{8}-[0-9a-f]{4}/u.test(name))).toEqual([]);
  });
});
