import type pg from 'pg';

/**
 * Whether everything that statements before this one saw would survive a crash of the server. Commits of a bulk load do not wait
 * for the disk (`synchronous_commit = off`) and are seen some tenths of a second before they are on it: whoever hands on what
 * he read, and could not take it back, asks this in between, and has it flushed where it is not. Within a transaction too. A
 * standby shows only what its primary has flushed.
 */
export async function isFlushed(client: pg.Pool | pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ flushed: boolean }>(
    `SELECT CASE WHEN pg_is_in_recovery() THEN true
       ELSE pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() END AS flushed`,
  );
  return rows[0]?.flushed === true;
}

/** Brings everything that was committed to the disk: one commit that waits for it, and with it for all before it. Not within a transaction. */
export async function flush(client: pg.Pool | pg.ClientBase): Promise<void> {
  // a commit waits for the disk where it has written something: a message that nobody reads
  await client.query(
    `BEGIN; SET LOCAL synchronous_commit = on; SELECT pg_logical_emit_message(true, 'satscribe', ''); COMMIT`,
  );
}

/** Settles once `isFlushed`. */
export async function awaitFlushed(client: pg.Pool | pg.ClientBase): Promise<void> {
  if (!(await isFlushed(client))) await flush(client);
}
