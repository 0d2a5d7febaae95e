import { createReadStream, createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { withTransaction } from '#kernel/pg/transaction.ts';

/** Connections that copy tables or build keys at once: one for each core of the machine on which the figures are. */
const connections = 2;
/** Bytes that are read from a file at once. */
const readBytes = 1 << 20;
/** Memory for the sorts of all builds together, as in a first sync (secondary-indexes.ts). */
const buildMemoryKb = (256 * 1024) / connections;

interface CopiedTable {
  readonly name: string;
  readonly columns: string;
  /** Size of the table in the exporting database. */
  readonly bytes: number;
}

const listFile = 'tables.json';
const fileOf = (folder: string, name: string): string => join(folder, `${name}.copy`);

/** Tables whose rows describe what this database was asked. */
const omitted = ['provenance'];

/** Copies every table of schema `chain` to a file, all in one snapshot of the database. */
export async function copyOut(pool: pg.Pool, folder: string): Promise<void> {
  const leader = await pool.connect();
  try {
    await leader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows: tables } = await leader.query<CopiedTable>(
      `SELECT c.relname AS name, string_agg('"' || a.attname || '"', ', ' ORDER BY a.attnum) AS columns,
         pg_relation_size(c.oid) + coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) AS bytes
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.relnamespace = 'chain'::regnamespace AND c.relkind = 'r' AND c.relname <> ALL ($1)
       GROUP BY c.oid ORDER BY bytes DESC`,
      [omitted],
    );
    const { rows } = await leader.query<{ id: string }>('SELECT pg_export_snapshot() AS id');
    const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '${rows[0]?.id ?? ''}'`;
    await inTurns(pool, tables, (client, { name, columns }) =>
      withTransaction(
        client,
        (tx) =>
          pipeline(
            tx.query(copyTo(`COPY chain.${name} (${columns}) TO STDOUT (FORMAT binary)`)),
            createWriteStream(fileOf(folder, name)),
          ),
        begin,
      ),
    );
    writeFileSync(join(folder, listFile), JSON.stringify(tables));
  } finally {
    leader.release(true);
  }
}

/** A primary key or another constraint with an index, as SQL. */
export interface DroppedKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
  readonly bytes: number;
}

/**
 * Fills the empty tables of a new database. Keys are dropped before and returned, so that they are built afterwards.
 * Rows are frozen and, with the embedded server's settings, written without WAL.
 */
export async function copyIn(pool: pg.Pool, folder: string): Promise<DroppedKey[]> {
  const tables = JSON.parse(readFileSync(join(folder, listFile), 'utf8')) as CopiedTable[];
  const sizes = new Map(tables.map(({ name, bytes }) => [name, bytes]));
  const { rows } = await pool.query<Omit<DroppedKey, 'bytes'>>(
    `SELECT r.relname AS table, c.conname AS name, pg_get_constraintdef(c.oid) AS definition
     FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
     WHERE c.connamespace = 'chain'::regnamespace AND c.contype IN ('p', 'u') AND r.relname = ANY ($1)`,
    [tables.map(({ name }) => name)],
  );
  const keys = rows.map((row) => ({ ...row, bytes: sizes.get(row.table) ?? 0 }));
  for (const { table, name } of keys) await pool.query(`ALTER TABLE chain.${table} DROP CONSTRAINT ${name}`);
  await inTurns(pool, tables, (client, { name, columns }) =>
    withTransaction(client, async (tx) => {
      await tx.query(`TRUNCATE chain.${name}`);
      await pipeline(
        createReadStream(fileOf(folder, name), { highWaterMark: readBytes }),
        tx.query(copyFrom(`COPY chain.${name} (${columns}) FROM STDIN (FORMAT binary, FREEZE)`)),
      );
    }),
  );
  return keys.toSorted((a, b) => b.bytes - a.bytes);
}

const beginBuild = `BEGIN; SET LOCAL max_parallel_maintenance_workers = 0;
  SET LOCAL maintenance_work_mem = '${buildMemoryKb}kB'`;

export async function buildKeys(pool: pg.Pool, keys: readonly DroppedKey[]): Promise<void> {
  await inTurns(pool, keys, (client, { table, name, definition }) =>
    withTransaction(
      client,
      (tx) => tx.query(`ALTER TABLE chain.${table} ADD CONSTRAINT ${name} ${definition}`),
      beginBuild,
    ),
  );
}

/** Works through a list over several connections. Each connection takes the next item when it has finished one. */
export async function inTurns<Item>(
  pool: pg.Pool,
  items: readonly Item[],
  work: (client: pg.PoolClient, item: Item) => Promise<unknown>,
): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = await pool.connect();
      try {
        for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(client, item);
      } finally {
        client.release();
      }
    }),
  );
}
