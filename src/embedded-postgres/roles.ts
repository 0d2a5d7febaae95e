import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { connectClient } from '#kernel/pg/pool.ts';
import { storedPassword } from '#kernel/pg/scram.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { ServerPlace } from './server-place.ts';

/**
 * Role that prepares the cluster. It creates the roles and the database, and adds the parts that a cluster of an older
 * version lacks. No other work uses it.
 */
export const superuser = 'satscribe';
/** Role that owns the database and writes the index. */
export const writer = 'satscribe_writer';
/** Role that answers requests (ADR 29). The writer grants its rights after each migration. */
export const reader = 'satscribe_reader';
export type Role = typeof superuser | typeof writer | typeof reader;

export const database = 'satscribe';

/**
 * How long a read may take, in ms. Most reads take milliseconds, and a longer read only slows other reads. A part of
 * the process may set a shorter limit on its connections.
 */
const readerTimeoutMs = 30_000;

export const passwordFile = (home: string, role: Role): string =>
  join(home, role === superuser ? 'password' : `password-${role}`);

/** Reads a password. Returns `null` if it cannot be read. */
export async function readPassword(
  { files, home }: Pick<ServerPlace, 'files' | 'home'>,
  role: Role,
): Promise<string | null> {
  return (await files.read(passwordFile(home, role)))?.trim() ?? null;
}

export async function makePassword(
  { files, home }: Pick<ServerPlace, 'files' | 'home'>,
  role: Role,
): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  await files.write(passwordFile(home, role), `${password}\n`);
  return password;
}

/**
 * Creates the missing roles and the database, and restores all their properties that may have changed. A cluster of an
 * older version has only the superuser, which owns all tables.
 *
 * @param urlOf connection URL of a database for the superuser
 */
export async function ensureRoles(place: ServerPlace, urlOf: (name: string) => string): Promise<void> {
  const passwords = {
    [writer]: (await readPassword(place, writer)) ?? (await makePassword(place, writer)),
    [reader]: (await readPassword(place, reader)) ?? (await makePassword(place, reader)),
  };
  await onDatabase(urlOf('postgres'), async (client) => {
    for (const role of [writer, reader] as const) await ensureRole(client, role, passwords[role]);
    await client.query(forCluster);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${database} OWNER ${writer}`);
    else await client.query(`ALTER DATABASE ${database} OWNER TO ${writer}`);
    // also revoke the right to create temporary tables, because they are tables too
    await client.query(`REVOKE ALL ON DATABASE ${database}, postgres, template1 FROM PUBLIC`);
    await client.query(`GRANT CONNECT ON DATABASE ${database} TO ${reader}`);
  });
  await onDatabase(urlOf(database), (client) =>
    withTransaction(client, async (tx) => {
      await tx.query(withoutLargeObjects);
      for (const statement of await statementsOf(tx, ownedSql)) await tx.query(statement);
    }),
  );
}

async function onDatabase(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = await connectClient(url, 'satscribe roles');
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Creates a role in one transaction, so that the role always has its attributes. */
async function ensureRole(client: pg.Client, role: Role, password: string): Promise<void> {
  await withTransaction(client, async (tx) => {
    const { rowCount } = await tx.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
    if (rowCount === 0) await tx.query(`CREATE ROLE ${role}`);
    await tx.query(
      `ALTER ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD ${pg.escapeLiteral(storedPassword(password))}`,
    );
  });
}

/** SQL: settings of the roles. The writer is granted each setting that only a superuser may change. */
const forCluster = `
  ALTER ROLE ${reader} SET statement_timeout = ${readerTimeoutMs};
  -- index builds take minutes, the statements of a first sync seconds
  ALTER ROLE ${writer} SET statement_timeout = 0;
  -- for \`--trace\`
  GRANT SET ON PARAMETER log_statement_stats, log_min_messages TO ${writer}`;

/** SQL: revokes the use of large objects. Every role could fill the disk with them, and our code does not use them. */
const withoutLargeObjects = `
  REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) FROM PUBLIC`;

/**
 * SQL: changes the owner of objects that an older version, or a restore, left to another role. REASSIGN OWNED cannot be
 * used, because it refuses the first superuser of a cluster. Indexes, row types and the sequences of columns follow
 * their tables.
 */
const ownedSql = `
  WITH ours AS (SELECT oid, nspname FROM pg_namespace WHERE nspname IN ('chain', 'service')),
  writer AS (SELECT oid FROM pg_roles WHERE rolname = '${writer}')
  SELECT format('ALTER SCHEMA %I OWNER TO ${writer}', n.nspname) AS statement
    FROM pg_namespace n JOIN ours USING (oid), writer WHERE n.nspowner <> writer.oid
  UNION ALL
  SELECT format('ALTER %s %s OWNER TO ${writer}',
           CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
           c.oid::regclass)
    FROM pg_class c JOIN ours ON ours.oid = relnamespace, writer
   WHERE relkind IN ('r', 'p', 'v', 'm', 'S') AND relowner <> writer.oid
     AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype IN ('a', 'i')
                        AND relkind = 'S')
  UNION ALL
  SELECT format('ALTER ROUTINE %s OWNER TO ${writer}', p.oid::regprocedure)
    FROM pg_proc p JOIN ours ON ours.oid = pronamespace, writer WHERE proowner <> writer.oid
  UNION ALL
  SELECT format('ALTER TYPE %s OWNER TO ${writer}', t.oid::regtype)
    FROM pg_type t JOIN ours ON ours.oid = typnamespace, writer
   WHERE typowner <> writer.oid AND typtype IN ('e', 'd', 'c', 'r')
     AND (typrelid = 0 OR EXISTS (SELECT FROM pg_class WHERE pg_class.oid = typrelid AND relkind = 'c'))`;

async function statementsOf(client: pg.ClientBase, sql: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ statement: string }>(sql);
  return rows.map(({ statement }) => statement);
}
