import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/** Settings that differ between the sessions of the program. */
export interface SessionOptions {
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /**
   * How long a statement may run, in ms, until the server ends it. Absent: no limit (the writer's index builds take
   * minutes).
   */
  readonly statementTimeoutMs?: number | undefined;
  /** True: its transactions cannot write, whatever its role is allowed to do. */
  readonly readOnly?: boolean | undefined;
}

/**
 * All settings that our statements depend on. A server, a database, a role or a pooler may have other values. They are
 * set by a statement, because poolers refuse most parameters of a connection, and an address could override parameters.
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
    // COPY takes no parameters, so bytes are literals in its query
    standard_conforming_strings: 'on',
    // the driver sends NULL within arrays
    array_nulls: 'on',
    // a GIN index would return only a part of the matches
    gin_fuzzy_search_limit: '0',
    // rows are locked, and read again while they are locked
    default_transaction_isolation: 'read committed',
    // keep triggers and foreign keys active
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
 * SQL that sets the differing settings; older servers lack some. A commit must wait for the disk, because orders are
 * sent once they are stored. Only the value `off` is changed: an operator may want more than `on`, or no wait for a
 * standby.
 */
const prepareSql = `
  SELECT set_config(name, value, false)
    FROM unnest($1::text[] || '{synchronous_commit}', $2::text[] || '{on}') AS wanted (name, value)
   WHERE current_setting(name, true) IS DISTINCT FROM value AND current_setting(name, true) IS NOT NULL
     AND (name <> 'synchronous_commit' OR current_setting(name) = 'off')`;

/** How often the server checks, while a statement runs, that its client is still connected, in ms. */
const connectionCheckMs = 1_000;

/** Message of `pg` after `query_timeout`. */
const timedOut = 'Query read timeout';

/**
 * How long to wait for the first answer, in ms. A server answers within milliseconds, but a pooler without a free
 * connection lets its clients wait.
 */
const firstAnswerMs = 10_000;

/** Prepares a new connection for our statements. Throws `postgres_unreachable` if there is no answer. */
export async function prepareSession(client: pg.ClientBase, options: SessionOptions): Promise<void> {
  const settings = settingsOf(options);
  const values = [Object.keys(settings), Object.values(settings)];
  // `pg` reads this option from a query, although its types lack the option
  const bound: object = { query_timeout: firstAnswerMs };
  try {
    await client.query({ text: prepareSql, values, ...bound });
  } catch (error) {
    if (!(error instanceof Error) || error.message !== timedOut) throw error;
    const message = `Postgres took a connection, and answered nothing on it for ${firstAnswerMs / 1000} s: a pooler may have none left (default_pool_size).`;
    throw new AppError('postgres_unreachable', message, {}, error);
  }
  if (options.statementTimeoutMs === undefined) return;
  // if a client leaves, its statement must end; if the server cannot check this, the time limit ends the statement
  await client.query(`SET client_connection_check_interval = ${connectionCheckMs}`).catch(() => undefined);
}
