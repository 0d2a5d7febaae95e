import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { connectClient } from './pool.ts';
import { postgresFailure } from './postgres-failure.ts';

/** Minimum version of the server. The SQL of this program is not tested with older versions. */
const oldestVersion = 150_000;

/**
 * Checks that the server is usable. It must answer, be new enough, store text as UTF8, and have a separate session for
 * each connection. Throws `postgres_unreachable`, `postgres_lost`, `postgres_refused`, `postgres_tls`,
 * `postgres_version` or `postgres_pooled`. Returns whether a pooler in session mode is between this program and the
 * server.
 */
export async function checkServer(url: string): Promise<{ isPooled: boolean }> {
  const client = await connectClient(url);
  try {
    await checkVersion(client, url);
    await checkOwnSession(client, url);
    return { isPooled: await hasOtherProcess(client) };
  } catch (error) {
    // the connection can break before the first answer
    throw postgresFailure(error);
  } finally {
    await client.end();
  }
}

/**
 * Whether the id of the server's process differs from the id that the connection received, because poolers send ids of
 * their own.
 */
async function hasOtherProcess(client: pg.Client): Promise<boolean> {
  const { processID } = client as unknown as { readonly processID: number | null };
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== processID;
}

async function checkVersion(client: pg.ClientBase, url: string): Promise<void> {
  const { rows } = await client.query<{ version: string; name: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS version, current_setting('server_version') AS name,
            current_setting('server_encoding') AS encoding`,
  );
  const found = rows[0];
  if (found === undefined || Number(found.version) < oldestVersion) {
    const message = `Postgres at ${shownAddress(url)} is version ${found?.name}, but 15 or newer is needed.`;
    throw new AppError('postgres_version', message, { version: found?.name });
  }
  if (found.encoding !== 'UTF8') {
    const message = `The database at ${shownAddress(url)} has encoding ${found.encoding}, but UTF8 is needed.`;
    throw new AppError('postgres_version', message, { encoding: found.encoding });
  }
}

/** A setting that no server has. It shows which session runs a statement. */
const mark = 'satscribe.session';
/**
 * How often the check is repeated. A pooler that is busy with other clients may assign the same connection to a client
 * again.
 */
const rounds = 5;

/**
 * Throws `postgres_pooled` if a pooler assigns server connections to clients per transaction, because locks and
 * settings of a session would then belong to other clients. Such a pooler uses the last server connection of `client`
 * for a transaction of another client, and then assigns another server connection to `client`.
 */
async function checkOwnSession(client: pg.ClientBase, url: string): Promise<void> {
  const own = randomUUID();
  await client.query('SELECT set_config($1, $2, false)', [mark, own]);
  const other = await connectClient(url);
  try {
    for (let round = 0; round < rounds; round++) {
      await other.query('BEGIN').catch((error: unknown) => {
        // a pooler that shares connections by statement refuses a transaction with protocol_violation
        throw (error as { code?: unknown }).code === '08P01' ? pooled(url, error) : error;
      });
      if ((await markOf(other)) === own || (await markOf(client)) !== own) throw pooled(url);
      await other.query('ROLLBACK');
    }
  } finally {
    await other.end();
  }
}

async function markOf(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ mark: string | null }>('SELECT current_setting($1, true) AS mark', [
    mark,
  ]);
  return rows[0]?.mark ?? null;
}

function pooled(url: string, cause?: unknown): AppError {
  const message = `Postgres at ${shownAddress(url)} is reached through a pooler that shares connections of the server between clients for each transaction or statement.`;
  return new AppError('postgres_pooled', message, {}, cause);
}
