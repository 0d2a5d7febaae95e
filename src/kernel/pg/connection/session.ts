import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/** Settings that differ between the sessions of the program. */
export interface SessionOptions {
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** The server ends a statement that takes longer; absent: no limit (the writer's index builds take minutes). */
  readonly statementTimeoutMs?: number | undefined;
  /** Its transactions cannot write, whatever its role may do. */
  readonly readOnly?: boolean | undefined;
}

/**
 * All settings that our statements depend on. A server, a database, a role or a pooler may have other values. A
 * statement sets them, because poolers refuse most parameters of a connection, and an address could override them.
 */
function settingsOf({ applicationName, statementTimeoutMs, readOnly = false }: SessionOptions): Settings {
  return {
    application_name: applicationName,
    // texts are sent and read as UTF-8
    client_encoding: 'UTF8',
    // the driver reads times in no other form
    DateStyle: 'ISO, MDY',
    TimeZone: 'UTC',
    // float8 in full
    extra_float_digits: '1',
    // COPY takes no parameters: bytes are literals in its query
    standard_conforming_strings: 'on',
    // the driver sends NULL within arrays
    array_nulls: 'on',
    // a GIN index would return only a part of the matches
    gin_fuzzy_search_limit: '0',
    // rows are locked, and read again under the lock
    default_transaction_isolation: 'read committed',
    // triggers and foreign keys work
    session_replication_role: 'origin',
    statement_timeout: String(statementTimeoutMs ?? 0),
    // index builds and migrations wait for others; holders of locks, and of snapshots for slow readers, are idle
    lock_timeout: '0',
    transaction_timeout: '0',
    idle_in_transaction_session_timeout: '0',
    idle_session_timeout: '0',
    ...(readOnly ? { default_transaction_read_only: 'on' } : {}),
  };
}

type Settings = Readonly<Record<string, string>>;

/**
 * SQL that sets the differing settings; older servers lack some. A commit waits for the disk: orders are sent once they
 * are stored. Only `off` is raised: an operator may want more than `on`, or no wait for a standby.
 */
const prepareSql = `
  SELECT set_config(name, value, false)
    FROM unnest($1::text[] || '{synchronous_commit}', $2::text[] || '{on}') AS wanted (name, value)
   WHERE current_setting(name, true) IS DISTINCT FROM value AND current_setting(name, true) IS NOT NULL
     AND (name <> 'synchronous_commit' OR current_setting(name) = 'off')`;

/** How often the server checks, while a statement runs, that its client is still connected. */
const connectionCheckMs = 1_000;

/** Message of `pg` after `query_timeout`. */
const timedOut = 'Query read timeout';

/**
 * Longest wait for the first answer. A server answers within milliseconds; a pooler without a free connection keeps its
 * clients waiting.
 */
const firstAnswerMs = 10_000;

/** Prepares a new connection for our statements. Throws `postgres_unreachable` without an answer. */
export async function prepareSession(client: pg.ClientBase, options: SessionOptions): Promise<void> {
  const settings = settingsOf(options);
  const values = [Object.keys(settings), Object.values(settings)];
  // `pg` reads it from a query, although its types lack it
  const bound: object = { query_timeout: firstAnswerMs };
  try {
    await client.query({ text: prepareSql, values, ...bound });
  } catch (error) {
    if (!(error instanceof Error) || error.message !== timedOut) throw error;
    const message = `Postgres took a connection, and answered nothing on it for ${firstAnswerMs / 1000} s: a pooler may have none left (default_pool_size).`;
    throw new AppError('postgres_unreachable', message, {}, error);
  }
  if (options.statementTimeoutMs === undefined) return;
  // a client that leaves must not keep a statement running; if the server cannot check, its time limit ends it
  await client.query(`SET client_connection_check_interval = ${connectionCheckMs}`).catch(() => undefined);
}
