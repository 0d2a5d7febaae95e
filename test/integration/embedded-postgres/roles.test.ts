import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  attachEmbeddedPostgres,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '#embedded-postgres/embedded-postgres.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { ensureReaderRights, excessReaderRights } from '#kernel/pg/reader-role.ts';
import { type DataDir, makeUsedDataDir } from '#test/support/data-dir.ts';

let folder: DataDir;
let server: EmbeddedPostgres;

beforeEach(async () => {
  folder = await makeUsedDataDir();
  await start();
});
afterEach(async () => {
  await server.stop();
  await folder.remove();
});

async function start(): Promise<void> {
  server = await startEmbeddedPostgres({ dataDir: folder.path, durable: false });
}

async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = await connectClient(url);
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Tries statements about the role's own rights, in the database of the service and in other databases of the server.
 * All of them must be refused.
 */
async function refusals(url: string): Promise<string[]> {
  const inDatabase = async (name: string, sql: string): Promise<string> => {
    const address = new URL(url);
    if (name !== '') address.pathname = `/${name}`;
    return ask(address.href, sql).then(
      () => `${sql}: done`,
      (error: unknown) => String((error as Error).message).replace(/^.*(permission denied[^\n]*).*$/su, '$1'),
    );
  };
  return Promise.all([
    inDatabase('', 'CREATE TEMP TABLE mine (a int)'),
    inDatabase('', "SELECT lo_from_bytea(0, 'abc')"),
    inDatabase('', 'SELECT lo_create(0)'),
    inDatabase('postgres', 'SELECT 1'),
    inDatabase('template1', 'SELECT 1'),
  ]);
}

const refused = [
  'permission denied to create temporary tables in database "satscribe"',
  'permission denied for function lo_from_bytea',
  'permission denied for function lo_create',
  'permission denied for database "postgres"',
  'permission denied for database "template1"',
];

describe('the roles of an embedded server', () => {
  test('are not superusers; one owns the database, the other answers', async () => {
    const roles = await ask(
      server.superuserUrl,
      `SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles
        WHERE rolname LIKE 'satscribe%' ORDER BY rolname`,
    );
    const none = { rolcreatedb: false, rolcreaterole: false, rolreplication: false, rolbypassrls: false };
    expect(roles).toMatchObject([
      { rolname: 'satscribe', rolsuper: true },
      { rolname: 'satscribe_reader', rolsuper: false, ...none },
      { rolname: 'satscribe_writer', rolsuper: false, ...none },
    ]);
    await migrate(server.url);
    await ensureReaderRights(server.url, server.readerUrl);
    expect(await excessReaderRights(server.readerUrl)).toEqual({ role: 'satscribe_reader', excess: [] });
    expect(await refusals(server.readerUrl)).toEqual(refused);
    const guest = await attachEmbeddedPostgres(folder.path);
    expect(guest).toEqual({ url: server.url, readerUrl: server.readerUrl });
    const names = await Promise.all(
      [guest.url, guest.readerUrl].map((url) => ask(url, 'SELECT current_user::text AS name')),
    );
    expect(names.flat()).toEqual([{ name: 'satscribe_writer' }, { name: 'satscribe_reader' }]);
  });

  test('are made in a cluster of an older version, in which the superuser owns everything', {
    tags: ['proof'],
  }, async () => {
    await migrate(server.superuserUrl);
    await ask(server.superuserUrl, "INSERT INTO service.accounts (name) VALUES ('kept')");
    await ask(server.superuserUrl, `CREATE TYPE chain.mood AS ENUM ('calm')`);
    const asBefore = new URL(server.superuserUrl);
    asBefore.pathname = '/postgres';
    await ask(asBefore.href, 'ALTER DATABASE satscribe OWNER TO satscribe');
    await ask(
      server.superuserUrl,
      'DROP OWNED BY satscribe_writer, satscribe_reader; DROP ROLE satscribe_writer, satscribe_reader',
    );
    await server.stop();
    for (const role of ['writer', 'reader'])
      await rm(join(folder.path, `postgres/password-satscribe_${role}`));

    await start();
    const foreign = await ask(
      server.superuserUrl,
      `SELECT relname::text AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname IN ('chain', 'service') AND relkind IN ('r', 'v', 'S', 'i')
          AND relowner <> 'satscribe_writer'::regrole
       UNION ALL SELECT proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
        WHERE nspname IN ('chain', 'service') AND proowner <> 'satscribe_writer'::regrole
       UNION ALL SELECT nspname FROM pg_namespace
        WHERE nspname IN ('chain', 'service') AND nspowner <> 'satscribe_writer'::regrole
       UNION ALL SELECT typname FROM pg_type
        WHERE typnamespace = 'chain'::regnamespace AND typowner <> 'satscribe_writer'::regrole`,
    );
    expect(foreign).toEqual([]);
    // do what the service does at every start
    expect((await migrate(server.url)).applied).toEqual([]);
    await ensureReaderRights(server.url, server.readerUrl);
    expect(await excessReaderRights(server.readerUrl)).toEqual({ role: 'satscribe_reader', excess: [] });
    expect(await refusals(server.readerUrl)).toEqual(refused);
    expect(await ask(server.url, 'SELECT name FROM service.accounts')).toEqual([{ name: 'kept' }]);
    // the writer can migrate, index and build indexes
    await ask(server.url, 'ALTER TABLE service.accounts ADD COLUMN later int');
    await ask(server.url, 'CREATE INDEX later ON chain.blocks (time)');
  });

  test('get back their attributes and passwords at the next start', { tags: ['proof'] }, async () => {
    await ask(server.superuserUrl, "ALTER ROLE satscribe_reader SUPERUSER PASSWORD 'stolen'");
    await ask(server.superuserUrl, 'ALTER ROLE satscribe_reader SET statement_timeout = 0');
    await server.stop();
    await start();
    const [role] = await ask(
      server.readerUrl,
      `SELECT rolsuper AS super, (SELECT reset_val FROM pg_settings WHERE name = 'statement_timeout') AS "limit"
         FROM pg_roles WHERE rolname = current_user`,
    );
    expect(role).toEqual({ super: false, limit: '30000' });
    const { mode: _mode, ...connection } = JSON.parse(
      await readFile(join(folder.path, 'postgres-connection.json'), 'utf8'),
    ) as Record<string, unknown>;
    const password = new URL(server.readerUrl).password;
    expect(JSON.stringify(connection)).not.toContain(password);
    expect(connection).toMatchObject({
      user: 'satscribe_writer',
      reader: {
        user: 'satscribe_reader',
        passwordFile: join(folder.path, 'postgres/password-satscribe_reader'),
      },
    });
  });
});
