import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { connectClient } from '#kernel/pg/pool.ts';
import type { TestDatabase } from '#test/support/database.ts';

/**
 * Copies all rows of schema `service` and its sequences into a database without rows, like `pg_dump --schema=service`
 * and a restore. Test machines do not have these tools in the server's version.
 */
export async function copyServiceRows(source: TestDatabase, target: TestDatabase): Promise<void> {
  const [reader, writer] = [
    await connectClient(source.superuserUrl),
    await connectClient(target.superuserUrl),
  ];
  try {
    // a real restore creates constraints and triggers only after the rows
    await writer.query(`SET session_replication_role = 'replica'`);
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const refuseAgain = await allowChanges(writer);
    for (const table of await namesOf(reader, 'r')) {
      await writer.query(`DELETE FROM ${table}`);
      const out = reader.query(to(`COPY ${table} TO STDOUT`));
      await pipeline(out, writer.query(from(`COPY ${table} FROM STDIN`)));
    }
    await refuseAgain();
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

/** Allows changes of append-only rows, until the returned function is called. */
export async function allowChanges(client: pg.Client): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT tgrelid::regclass::text AS name FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
      WHERE tgname = 'refuse_change' AND c.relnamespace = 'service'::regnamespace`,
  );
  for (const { name } of rows) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER refuse_change`);
  return async () => {
    for (const { name } of rows)
      await client.query(`ALTER TABLE ${name} ENABLE ALWAYS TRIGGER refuse_change`);
  };
}

async function namesOf(client: pg.Client, kind: 'r' | 'S'): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('service.%I', relname) AS name FROM pg_class
      WHERE relnamespace = 'service'::regnamespace AND relkind = $1 ORDER BY relname`,
    [kind],
  );
  return rows.map(({ name }) => name);
}
