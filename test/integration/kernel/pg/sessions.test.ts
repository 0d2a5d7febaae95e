import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { checkServer } from '#kernel/pg/check-server.ts';
import { readCopyBytes } from '#kernel/pg/copy-read.ts';
import { connectClient, connectPipelined, createPool } from '#kernel/pg/pool.ts';
import { pgbouncerForTests, startPgbouncer } from '#test/support/postgres/pgbouncer.ts';

/** Makes an account with its own settings, on the server that all tests share. */
async function withAccount(
  settings: Readonly<Record<string, string>>,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const { url } = inject('testServer');
  const role = `satscribe_set_${process.pid}`;
  const administrator = await connectClient(url);
  try {
    await administrator.query(`CREATE ROLE ${role} LOGIN PASSWORD 'set'`);
    for (const [name, value] of Object.entries(settings))
      await administrator.query(`ALTER ROLE ${role} SET ${name} = '${value}'`);
    const name = new URL(url).pathname.slice(1);
    await administrator.query(`GRANT CONNECT, TEMPORARY ON DATABASE ${name} TO ${role}`);
    const address = new URL(url);
    address.username = role;
    address.password = 'set';
    await use(address.href);
  } finally {
    await administrator.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await administrator.end();
  }
}

const usual = {
  TimeZone: 'UTC',
  array_nulls: 'on',
  client_encoding: 'UTF8',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  gin_fuzzy_search_limit: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  lock_timeout: '0',
  session_replication_role: 'origin',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  synchronous_commit: 'on',
  transaction_timeout: '0',
};
const wanted = { ...usual, DateStyle: 'ISO, MDY' };

const awkward = {
  DateStyle: 'German, DMY',
  TimeZone: 'Asia/Kathmandu',
  array_nulls: 'off',
  client_encoding: 'LATIN1',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '-15',
  gin_fuzzy_search_limit: '1',
  idle_in_transaction_session_timeout: '5s',
  idle_session_timeout: '5s',
  lock_timeout: '5s',
  standard_conforming_strings: 'off',
  statement_timeout: '5s',
  synchronous_commit: 'off',
  transaction_timeout: '5s',
};

async function settingsOf(client: pg.Pool | pg.ClientBase): Promise<Record<string, string | null>> {
  const { rows } = await client.query<{ name: string; value: string | null }>(
    'SELECT name, current_setting(name, true) AS value FROM unnest($1::text[]) AS name',
    [Object.keys(wanted)],
  );
  // older servers do not have some settings
  return Object.fromEntries(
    rows.map(({ name, value }) => [name, value ?? wanted[name as keyof typeof wanted]]),
  );
}

describe('a session has the settings that statements depend on, whatever its account sets', () => {
  test('alone, of a pool, and pipelined', async () => {
    await withAccount(awkward, async (url) => {
      const client = await connectClient(url);
      const pool = createPool(url, { max: 1 });
      const pipelined = await connectPipelined(pool);
      try {
        for (const session of [client, pool, pipelined]) expect(await settingsOf(session)).toEqual(wanted);
      } finally {
        await Promise.all([client.end(), pool.end(), pipelined.end()]);
      }
    });
  });

  test('so that values come as they are', async () => {
    await withAccount(awkward, async (url) => {
      const client = await connectClient(url);
      try {
        const at = new Date('2026-11-27T02:33:19.123Z');
        const { rows } = await client.query<Record<string, unknown>>(
          `SELECT $1::timestamptz AS at, $2::text AS text, $3::text[] AS texts, $4::bytea AS bytes,
             1 / 3::float8 AS float, encode('\\x5c'::bytea, 'hex') AS literal`,
          [at, 'ĕ字🙂', ['a', null, 'NULL'], Buffer.from([0, 0x5c, 0xff])],
        );
        expect(rows[0]).toEqual({
          at,
          text: 'ĕ字🙂',
          texts: ['a', null, 'NULL'],
          bytes: Buffer.from([0, 0x5c, 0xff]),
          float: 1 / 3,
          literal: '5c',
        });
        expect(await readCopyBytes(client, String.raw`SELECT '\x005cff'::bytea`)).toEqual(
          Buffer.from([0, 0x5c, 0xff]),
        );
      } finally {
        await client.end();
      }
    });
  });

  test('and an address cannot change them', async () => {
    const address = new URL(inject('testServer').url);
    for (const parameter of [
      'client_encoding=LATIN1',
      'binary=true',
      'statement_timeout=1',
      'query_timeout=1',
    ])
      address.searchParams.set(...(parameter.split('=', 2) as [string, string]));
    address.searchParams.set('application_name', 'another');
    address.searchParams.set('options', '-c DateStyle=German -c lock_timeout=5s');
    const pool = createPool(address.href, {
      max: 1,
      applicationName: 'satscribe own',
      statementTimeoutMs: 7_000,
    });
    try {
      expect(await settingsOf(pool)).toEqual({ ...wanted, statement_timeout: '7s' });
      const { rows } = await pool.query<Record<string, unknown>>(
        `SELECT now() AS at, current_setting('application_name') AS name`,
      );
      expect(rows[0]).toEqual({ at: expect.any(Date) as Date, name: 'satscribe own' });
    } finally {
      await pool.end();
    }
  });

  test('a reader cannot write, and a durability that an operator chose stays', async () => {
    await withAccount({ synchronous_commit: 'remote_apply' }, async (url) => {
      const readers = createPool(url, { max: 1, readOnly: true });
      try {
        expect(await settingsOf(readers)).toMatchObject({ synchronous_commit: 'remote_apply' });
        await expect(readers.query('CREATE SCHEMA s')).rejects.toMatchObject({ code: '25006' });
      } finally {
        await readers.end();
      }
    });
  });

  test('an account whose triggers do not work is refused', async () => {
    await withAccount({ session_replication_role: 'replica' }, async (url) => {
      await expect(connectClient(url)).rejects.toMatchObject({
        code: 'postgres_refused',
        message: expect.stringContaining('session_replication_role') as string,
      });
    });
  });
});

test('a connection begins with no parameter that a pooler refuses', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const pool = createPool(`postgres://user:word@127.0.0.1:${port}/database?statement_timeout=1`, {
    statementTimeoutMs: 1000,
    readOnly: true,
  });
  try {
    const asked = pool.query('SELECT 1').catch(() => undefined);
    const [socket] = (await once(server, 'connection')) as [NodeJS.ReadWriteStream & { destroy(): void }];
    const [packet] = (await once(socket, 'data')) as [Buffer];
    // names and values follow the length and the version, and each of them ends with a zero
    const words = packet.subarray(8).toString('latin1').split('\0');
    const names = words.filter((word, place) => place % 2 === 0 && word !== '');
    // these are the parameters that pgbouncer accepts by default
    expect(names.toSorted()).toEqual(['application_name', 'client_encoding', 'database', 'user']);
    socket.destroy();
    await asked;
  } finally {
    await pool.end();
    await new Promise((resolve) => server.close(resolve));
  }
});

const pgbouncer = pgbouncerForTests();

describe.skipIf(pgbouncer === null)('a pooler', () => {
  let url: string;
  beforeAll(() => {
    ({ url } = inject('testServer'));
  });

  test('in session mode, with its defaults, is a server like others', async () => {
    const pooler = await startPgbouncer(pgbouncer ?? '', 'session', [url]);
    try {
      expect(await checkServer(pooler.through(url))).toEqual({ isPooled: true });
      expect(await checkServer(url)).toEqual({ isPooled: false });
      const pool = createPool(pooler.through(url), { readOnly: true, statementTimeoutMs: 7_000 });
      try {
        expect(await settingsOf(pool)).toEqual({ ...wanted, statement_timeout: '7s' });
      } finally {
        await pool.end();
      }
    } finally {
      await pooler.stop();
    }
  });

  test.each(['transaction', 'statement'] as const)('by %s is refused, with the remedy', async (mode) => {
    const pooler = await startPgbouncer(pgbouncer ?? '', mode, [url]);
    try {
      await expect(checkServer(pooler.through(url))).rejects.toMatchObject({ code: 'postgres_pooled' });
    } finally {
      await pooler.stop();
    }
  });
});
