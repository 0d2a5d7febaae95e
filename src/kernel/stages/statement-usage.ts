/** The server's own measurements of a statement, in milliseconds. */
export interface StatementUsage {
  /** Processor time of the connection's process, without parallel workers. */
  readonly cpuMs: number;
  /** Time from the statement's arrival at the server to its end. For a COPY, this includes the arrival of its rows. */
  readonly ms: number;
}

/**
 * SQL that makes a session report the usage of each statement to its client, before the answer ends. Only superusers
 * may run it. The server also writes the report to its log, unless the session's log level is `fatal`. With this level,
 * errors of the session are missing in the log too, and only the client reports them. One text is one transaction, so
 * either all settings are changed, or none.
 */
export const tellUsage =
  'SET log_statement_stats = on; SET client_min_messages = log; SET log_min_messages = fatal';
export const tellNothing = 'RESET log_statement_stats; RESET client_min_messages; RESET log_min_messages';

/** Forms of the notices of Postgres's `ShowUsage`, which are not translated. */
const title = /^(?:QUERY|PARSE MESSAGE|BIND MESSAGE|EXECUTE MESSAGE) STATISTICS$/u;
const times = /!\t(\d+\.\d+) s user, (\d+\.\d+) s system, (\d+\.\d+) s elapsed/u;

export interface Notice {
  readonly message?: string | undefined;
  readonly detail?: string | undefined;
}

/**
 * The usage in a notice. A statement with parameters has three such notices, one for each of its messages. `null` for
 * any other notice.
 */
export function usageOf({ message, detail }: Notice): StatementUsage | null {
  const match = title.test(message ?? '') ? times.exec(detail ?? '') : null;
  if (match === null) return null;
  const [user = 0, system = 0, elapsed = 0] = match.slice(1).map((seconds) => Number(seconds) * 1000);
  return { cpuMs: user + system, ms: elapsed };
}
