import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/** Settings that differ between the sessions of the program. */
export interface SessionOptions {
  /** Name that pg_stat_activity shows. */
  readonly applicationName: string;
  /**
   * How long a statement may run until the server ends it, in ms. If absent, there is no limit, because the writer's
   * index builds take minutes.
   */
  readonly statementTimeoutMs?: number | undefined;
  /** True if transactions of the session cannot write, even if the role is allowed to write. */
  readonly readOnly?: boolean | undefined;
}

/**
 * All settings that the statements of this program need. A server, a database, a role or a pooler may have other
 * values. A statement sets them, because poolers refuse most parameters of a connection, and a database URL could
 * override parameters.
 */
function settingsOf({ applicationName, statementTimeoutMs, readOnly = false }: SessionOptions): Settings {
  return {
    application_name: applicationName,
    // the client sends and reads texts as UTF-8
    client_encoding: 'UTF8',
    // the driver reads times only in this form
    DateStyle: 'ISO, MDY',
    TimeZone: 'UTC',
    // send all digits of float8
    extra_float_digits: '1',
    // COPY has no parameters, so bytes are literals in its query
    standard_conforming_strings: 'on',
    // the driver sends NULL within arrays
    array_nulls: 'on',
    // with a limit, a GIN index would return only a part of the matches
    gin_fuzzy_search_limit: '0',
    // statements lock rows, and then read the rows again
    default_transaction_isolation: 'read committed',
    // keep triggers and foreign keys active
    session_replication_role: 'origin',
    statement_timeout: String(statementTimeoutMs ?? 0),
    // index builds and migrations wait for others; connections with a lock, or with a snapshot for a slow reader, may
    // be idle
    lock_timeout: '0',
    transaction_timeout: '0',
    idle_in_transaction_session_timeout: '0',
    idle_session_timeout: '0',
    ...(readOnly ? { default_transaction_read_only: 'on' } : {}),
  };
}

type Settings = Readonly<Record<string, string>>;

/**
 * SQL that changes only the settings that differ. Older servers lack some settings. A commit must wait for the disk,
 * because orders are sent when they are stored. So `synchronous_commit` is changed only if it is `off`, because an
 * operator may want more than `on`, or no wait for a standby.
 */
const prepareSql = `
  SELECT set_config(name, value, false)
    FROM unnest($1::text[] || '{synchronous_commit}', $2::text[] || '{on}') AS wanted (name, value)
   WHERE current_setting(name, true) IS DISTINCT FROM value AND current_setting(name, true) IS NOT NULL
     AND (name <> 'synchronous_commit' OR current_setting(name) = 'off')`;

/** How often the server checks during a statement that the client is still connected, in ms. */
const connectionCheckMs = 1_000;

/** Message of `pg` after `query_timeout`. */
const timedOut = 'Query read timeout';

/**
 * How long a client waits for the first answer, in ms. A server answers within milliseconds, but clients of a pooler
 * wait until a connection is free.
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
    const message = `Postgres accepted a connection, but did not answer on it for ${firstAnswerMs / 1000} s. A pooler may have no connection left (default_pool_size).`;
    throw new AppError('postgres_unreachable', message, {}, error);
  }
  if (options.statementTimeoutMs === undefined) return;
  // if a client leaves, its statement must end; if the server cannot check connections, the time limit ends the
  // statement
  await client.query(`SET client_connection_check_interval = ${connectionCheckMs}`).catch(() => undefined);
}
