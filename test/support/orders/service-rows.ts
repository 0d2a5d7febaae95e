import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { connectClient } from '#kernel/pg/pool.ts';
import type { TestDatabase } from '#test/support/database.ts';

/**
 * Brings all rows of schema `service` to a database that has none, and its sequences, as `pg_dump --schema=service` and
 * a restore do: machines of tests have none of the server's version.
 */
export async function copyServiceRows(source: TestDatabase, target: TestDatabase): Promise<void> {
  const [reader, writer] = [
    await connectClient(source.superuserUrl),
    await connectClient(target.superuserUrl),
  ];
  try {
    // a restore makes constraints and triggers when the rows are there
    await writer.query(`SET session_replication_role = 'replica'`);
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    for (const table of await namesOf(reader, 'r')) {
      const isAppended = await isOnlyAdded(writer, table);
      if (isAppended) await writer.query(`ALTER TABLE ${table} DISABLE TRIGGER refuse_change`);
      await writer.query(`DELETE FROM ${table}`);
      if (isAppended) await writer.query(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER refuse_change`);
      const out = reader.query(to(`COPY ${table} TO STDOUT`));
      await pipeline(out, writer.query(from(`COPY ${table} FROM STDIN`)));
    }
    for (const sequence of await namesOf(reader, 'S')) {
      const { rows } = await reader.query<{ last: number; called: boolean }>(
        `SELECT last_value AS last, is_called AS called FROM ${sequence}`,
      );
      await writer.query('SELECT setval($1, $2, $3)', [sequence, rows[0]?.last, rows[0]?.called]);
    }
  } finally {
    await reader.end();
    await writer.end();
  }
}

async function isOnlyAdded(client: pg.Client, table: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname = 'refuse_change'`,
    [table],
  );
  return rowCount === 1;
}

async function namesOf(client: pg.Client, kind: 'r' | 'S'): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('service.%I', relname) AS name FROM pg_class
      WHERE relnamespace = 'service'::regnamespace AND relkind = $1 ORDER BY relname`,
    [kind],
  );
  return rows.map(({ name }) => name);
}
