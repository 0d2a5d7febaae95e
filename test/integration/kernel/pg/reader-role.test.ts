import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { apiKeyHash } from '#accounts/api-key.ts';
import { KeyDirectory } from '#accounts/key-directory.ts';
import { lease } from '#accounts/lease.store.ts';
import { addUsage, usageSince } from '#accounts/usage.store.ts';
import { awaitFlushed, flush } from '#kernel/pg/await-flushed.ts';
import { pendingMigrations } from '#kernel/pg/migrate.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { ensureReaderRights, excessReaderRights } from '#kernel/pg/reader-role.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { giveKey } from '#test/support/http/search-access.ts';

let database: TestDatabase;
/** The role's sessions without the guard of read-only transactions, so that only the role's rights count. */
let reader: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  reader = createPool(database.readerUrl);
});
afterAll(async () => {
  await reader.end();
  await database.drop();
});

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error as { code?: unknown }).code,
  );
const denied = '42501';

describe('the role that answers requests', () => {
  test.each([
    'CREATE TABLE mine (a int)',
    'CREATE TABLE chain.mine (a int)',
    'CREATE SCHEMA mine',
    'CREATE VIEW chain.mine AS SELECT 1',
    "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    'CREATE INDEX mine ON chain.blocks (time)',
    'ALTER TABLE chain.blocks ADD COLUMN mine int',
    'ALTER TABLE service.keys DISABLE TRIGGER ALL',
    'ALTER DATABASE satscribe SET work_mem = 64',
    'DROP TABLE chain.blocks',
    'DROP SCHEMA service CASCADE',
    'TRUNCATE chain.blocks',
    'TRUNCATE service.rate_limits',
    'DO $$ BEGIN LOCK TABLE chain.state IN ACCESS EXCLUSIVE MODE; END $$',
    'REINDEX TABLE chain.state',
    "INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules) VALUES ('regtest', '', 1, 1)",
    'UPDATE chain.blocks SET time = 0',
    'DELETE FROM chain.blocks',
    "INSERT INTO service.accounts (name) VALUES ('mine')",
    "INSERT INTO service.keys (account, hash, prefix, scopes, burst, per_seconds) VALUES ('a', '', 'a', '{admin}', 0, 60)",
    "UPDATE service.keys SET scopes = '{admin}'",
    'UPDATE service.keys SET revoked_at = NULL',
    'DELETE FROM service.keys',
    'DELETE FROM service.key_usage',
    "UPDATE service.webhooks SET body = ''",
    "UPDATE service.webhooks SET url = 'https://elsewhere.example'",
    'SELECT url FROM service.webhooks',
    "UPDATE service.referrals SET address = 'mine'",
    'SELECT account FROM service.keys',
    'SELECT hash FROM service.keys',
    'UPDATE service.keys SET base_fee = 0',
    'SELECT * FROM service.accounts',
    'DELETE FROM service.watched_scripts',
    "UPDATE service.watched_scripts SET script = 'a'",
    'SELECT leaf FROM service.order_leaves',
    "UPDATE service.orders SET state = 'completed'",
    "UPDATE service.orders SET refund_script = 'a'",
    'DELETE FROM service.orders',
    'UPDATE service.wallet SET network = NULL',
    'UPDATE service.wallet_branches SET next_index = 0, released_end = 0',
    'DELETE FROM service.wallet',
    'SELECT * FROM service.ledger_entries',
    'UPDATE service.payments_offset SET height = 0',
    "INSERT INTO service.wallet_transactions (txid) VALUES ('a')",
    "INSERT INTO service.payments_seen (txid) VALUES ('a')",
    "SELECT pg_read_file('PG_VERSION')",
    "SELECT pg_ls_dir('.')",
    "COPY chain.blocks TO '/tmp/blocks'",
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    'SELECT rolpassword FROM pg_authid',
    "CREATE ROLE mine SUPERUSER LOGIN PASSWORD 'mine'",
    'SET ROLE satscribe_writer',
    'ALTER SYSTEM SET work_mem = 64',
    'CREATE EXTENSION file_fdw',
    'CHECKPOINT',
    'SELECT pg_reload_conf()',
  ])('may not %s', async (statement) => {
    expect(await codeOf(reader.query(statement))).toBe(denied);
  });

  test('reads all of the chain, also tables of later migrations', async () => {
    await database.pool.query('CREATE TABLE chain.later AS SELECT 42 AS answer');
    const { rows } = await reader.query<{ answer: number }>('SELECT answer FROM chain.later');
    expect(rows).toEqual([{ answer: 42 }]);
    await database.pool.query('DROP TABLE chain.later');
  });

  test('listens, holds advisory locks, prepares statements and flushes the data that it passes on', async () => {
    const client = await reader.connect();
    try {
      const heard = new Promise((resolve) => client.once('notification', resolve));
      await client.query('LISTEN satscribe_outbox');
      await database.pool.query("SELECT pg_notify('satscribe_outbox', '')");
      await heard;
      const locked = await client.query('SELECT pg_try_advisory_lock(1) AND pg_advisory_unlock(1) AS done');
      expect(locked.rows).toEqual([{ done: true }]);
      const named = {
        name: 'named',
        text: 'SELECT count(*) FROM chain.blocks WHERE height > $1',
        values: [1],
      };
      for (const _ of [1, 2]) expect((await client.query(named)).rows).toHaveLength(1);
    } finally {
      client.release(true);
    }
    // this also works in transactions that cannot write
    await flush(database.readers);
    await awaitFlushed(database.readers);
  });

  test('counts the use of keys and the tokens of rates; a pool that only reads does not', async () => {
    const terms = { directBaseFee: 700 };
    const { id, key, account } = await giveKey(database.pool, { terms });
    const found = await new KeyDirectory(reader).find(apiKeyHash(key)!);
    expect(found).toMatchObject({ id, account, terms });
    const line = { keyId: id, day: '2026-11-23', endpoints: 'search', requests: 2, refused: 1 };
    const ask = { subject: 'address', perSecond: 1, burst: 10, wanted: 4, givenBack: 0 };
    for (const _ of [1, 2]) {
      await addUsage(reader, [line], new Date());
      await lease(reader, [ask]);
    }
    expect(await usageSince(database.pool, [id], '2026-01-01')).toEqual([
      { ...line, requests: 4, refused: 2 },
    ]);
    await reader.query('DELETE FROM service.rate_limits');
    expect(await codeOf(lease(database.readers, [ask]))).toBe('25006');
  });
});

describe('statements of the role', () => {
  test('end after its limit, those of the writer never', async () => {
    const limit = async (url: string): Promise<unknown> => {
      const client = await connectClient(url);
      // this is the limit of the role, which our sessions replace by their own limit
      await client.query('RESET statement_timeout');
      const { rows } = await client.query<{ statement_timeout: string }>('SHOW statement_timeout');
      await client.end();
      return rows[0]?.statement_timeout;
    };
    expect(await limit(inject('testServer').readerUrl)).toBe('30s');
    expect(await limit(inject('testServer').writerUrl)).toBe('0');
    const own = createPool(database.readerUrl, { max: 1, statementTimeoutMs: 100 });
    expect(await codeOf(own.query('SELECT pg_sleep(60)'))).toBe('57014');
    await own.end();
  });
});

describe("with a server of one's own", () => {
  const role = `own_reader_${process.pid}`;
  let empty: TestDatabase;
  let url: string;
  beforeEach(async () => {
    empty = await createTestDatabase();
    const address = new URL(empty.url);
    [address.username, address.password] = [role, 'own'];
    url = address.href;
    const superuser = await connectClient(empty.superuserUrl);
    await superuser.query(`CREATE ROLE ${role} LOGIN PASSWORD 'own'`);
    await superuser.query(`GRANT CONNECT ON DATABASE ${address.pathname.slice(1)} TO ${role}`);
    await superuser.end();
    return async () => {
      await empty.drop();
      const server = await connectClient(inject('testServer').url);
      await server.query(`DROP ROLE ${role}`);
      await server.end();
    };
  });
  const asSuperuser = async (statement: string): Promise<void> => {
    const superuser = await connectClient(empty.superuserUrl);
    await superuser.query(statement);
    await superuser.end();
  };

  test('a role without rights gets the statements that grant them, and they work', async () => {
    const error: unknown = await ensureReaderRights(null, url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'database_reader_rights', details: { role } });
    const { message } = error as Error;
    expect(message).toContain(`GRANT SELECT ON ALL TABLES IN SCHEMA chain TO "${role}";`);
    expect(message).not.toContain(':own@');
    await empty.pool.query(message.slice(message.indexOf('GRANT ')));
    await ensureReaderRights(null, url);
    expect(await excessReaderRights(url)).toEqual({ role, excess: [] });
  });

  test('a role without rights finds all migrations pending, and no denied statement', async () => {
    const client = await connectClient(url);
    try {
      expect(await pendingMigrations(client, url)).toContain('chain/0001_foundation');
      await ensureReaderRights(empty.url, url);
      expect(await pendingMigrations(client, url)).toEqual([]);
    } finally {
      await client.end();
    }
  });

  test('the writer grants the rights, from several processes at once', async () => {
    await Promise.all([1, 2, 3].map(() => ensureReaderRights(empty.url, url)));
    expect(await excessReaderRights(url)).toEqual({ role, excess: [] });
    // make a table that belongs to another role
    await asSuperuser('CREATE TABLE chain.foreign AS SELECT 1 AS one');
    await expect(ensureReaderRights(empty.url, url)).rejects.toMatchObject({
      code: 'database_reader_rights',
      details: { missing: ['SELECT on foreign'] },
    });
  });

  test('a role that does not exist is made by a writer that may make roles, and by no other', async () => {
    const missing = new URL(url);
    // the name has blanks and quotes, which any name may have, and the password has letters that a URL must escape
    missing.username = encodeURIComponent(`own "reader" ${process.pid}`);
    missing.password = encodeURIComponent("it's%@:/?#");
    await expect(ensureReaderRights(empty.url, missing.href)).rejects.toMatchObject({
      code: 'postgres_refused',
    });
    const name = `own "reader" ${process.pid}`;
    expect(await ensureReaderRights(empty.superuserUrl, missing.href)).toBe(name);
    expect(await ensureReaderRights(empty.superuserUrl, missing.href)).toBeNull();
    expect(await excessReaderRights(missing.href)).toEqual({ role: name, excess: [] });
    // the role keeps its password
    const wrong = new URL(missing);
    wrong.password = 'other';
    await expect(ensureReaderRights(empty.superuserUrl, wrong.href)).rejects.toMatchObject({
      code: 'postgres_refused',
    });
    await asSuperuser(`DROP OWNED BY ${pg.escapeIdentifier(name)}; DROP ROLE ${pg.escapeIdentifier(name)}`);
  });

  test('more rights than needed are named', async () => {
    await ensureReaderRights(empty.url, url);
    const excessAfter = async (statement: string): Promise<readonly string[]> => {
      await asSuperuser(statement);
      return (await excessReaderRights(url)).excess;
    };
    expect(await excessAfter(`GRANT INSERT ON service.accounts TO ${role}`)).toEqual([
      'may INSERT service.accounts',
    ]);
    expect(await excessAfter(`GRANT UPDATE (scopes) ON service.keys TO ${role}`)).toEqual([
      'may INSERT service.accounts',
      'may UPDATE service.keys',
    ]);
    await asSuperuser(
      `REVOKE ALL ON service.accounts FROM ${role}; REVOKE UPDATE (scopes) ON service.keys FROM ${role}`,
    );
    expect(await excessAfter(`GRANT CREATE ON SCHEMA chain TO ${role}`)).toEqual([
      'may create in schema chain',
    ]);
    expect(await excessAfter(`ALTER ROLE ${role} CREATEDB`)).toEqual([
      'may create databases',
      'may create in schema chain',
    ]);
    expect(await excessAfter(`GRANT pg_read_server_files TO ${role}`)).toContain(
      'is a member of pg_read_server_files',
    );
    expect(await excessAfter(`ALTER ROLE ${role} SUPERUSER`)).toEqual(['is a superuser']);
  });

  test('two addresses of different databases are refused', async () => {
    const other = new URL(url);
    other.pathname = new URL(database.url).pathname;
    await asSuperuser(`GRANT CONNECT ON DATABASE ${other.pathname.slice(1)} TO ${role}`);
    const error: unknown = await ensureReaderRights(empty.url, other.href).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'config_invalid' });
    expect((error as Error).message).not.toContain(role);
    await asSuperuser(`REVOKE CONNECT ON DATABASE ${other.pathname.slice(1)} FROM ${role}`);
  });
});
