import type pg from 'pg';

/**
 * Whether all data seen by earlier statements would survive a crash of the server. Commits of a bulk load do not wait
 * for the disk (`synchronous_commit = off`), and become visible some tenths of a second before they are on the disk.
 * Code that passes on data, and cannot take the data back, must check this first, and force a flush if needed. Works
 * within a transaction too. A standby shows only data that its primary has flushed.
 */
export async function isFlushed(client: pg.Pool | pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ flushed: boolean }>(
    `SELECT CASE WHEN pg_is_in_recovery() THEN true
       ELSE pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() END AS flushed`,
  );
  return rows[0]?.flushed === true;
}

/**
 * Flushes all committed data. This makes a commit that waits for the disk, and so all earlier commits are flushed, too.
 * Must not be called within a transaction.
 */
export async function flush(client: pg.Pool | pg.ClientBase): Promise<void> {
  // a commit waits for the disk only if it wrote something, so write a message that no one reads
  await client.query(
    `BEGIN; SET LOCAL synchronous_commit = on; SELECT pg_logical_emit_message(true, 'satscribe', ''); COMMIT`,
  );
}

/** Resolves when `isFlushed` returns true. */
export async function awaitFlushed(client: pg.Pool | pg.ClientBase): Promise<void> {
  if (!(await isFlushed(client))) await flush(client);
}
