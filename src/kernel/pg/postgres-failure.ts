import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { tlsFailure } from '#kernel/errors/tls-failure.ts';

/**
 * Error codes of this program by SQLSTATE, or by the first characters of an SQLSTATE (PostgreSQL manual, appendix A).
 * The longest match is used.
 */
const codeByState: Readonly<Record<string, keyof typeof what>> = {
  // the server, or something in between, ended a connection; if its database was dropped, the next connection reports
  // it
  '08': 'postgres_lost',
  '57P': 'postgres_lost',
  '25P03': 'postgres_lost',
  '25P04': 'postgres_lost',
  // the server is starting, stopping or recovering, or has no free connection
  '57P03': 'postgres_unreachable',
  '53300': 'postgres_unreachable',
  '53100': 'disk_full',
  // a stack that is too small
  '54001': 'postgres_exhausted',
  // Postgres lacks resources for a statement
  '53': 'postgres_exhausted',
  // deadlock, serialisation failure, or a lock that was not available immediately
  '40': 'postgres_conflict',
  '55P03': 'postgres_conflict',
  // a standby, or a server that is set to read only
  '25006': 'postgres_read_only',
  // a time limit, or a statement that was cancelled
  '57014': 'postgres_timeout',
  // damaged pages or indexes, a disk with errors
  XX001: 'postgres_damaged',
  XX002: 'postgres_damaged',
  // a missing file of a table, and errors of the server's system
  '58': 'postgres_damaged',
  // a prepared statement is unknown in this session, or is already prepared
  '26000': 'postgres_pooled',
  '42P05': 'postgres_pooled',
  // a table or a schema is missing
  '42P01': 'database_incomplete',
  '3F000': 'database_incomplete',
  '28': 'postgres_refused',
  '3D000': 'postgres_refused',
  '42501': 'postgres_refused',
};

const what = {
  postgres_lost: 'The connection to Postgres was lost',
  postgres_unreachable: 'Postgres accepted no connection',
  postgres_exhausted: 'Postgres lacks resources for a statement',
  postgres_conflict: 'Postgres rolled back a conflicting transaction',
  postgres_read_only: 'Postgres accepts no writes',
  postgres_timeout: 'Postgres ended a statement',
  postgres_damaged: 'Postgres cannot read its own data',
  postgres_refused: 'Postgres denied access or permissions',
  postgres_pooled: 'A pooler between this program and Postgres shares connections between clients',
  postgres_tls: 'The connection to Postgres by TLS failed',
  disk_full: 'The disk of the database is full',
  database_incomplete: 'The database lacks a table that its version has',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** System errors if this process may not use a socket file. Without a server there is no such file. */
const forbiddenSocket = new Set(['EACCES', 'EPERM']);

/** System errors of sockets and host names, and of the disk of a server on this machine. */
const codeBySystem: Readonly<Record<string, keyof typeof what>> = {
  ECONNRESET: 'postgres_lost',
  ECONNREFUSED: 'postgres_lost',
  EPIPE: 'postgres_lost',
  ETIMEDOUT: 'postgres_lost',
  EHOSTUNREACH: 'postgres_unreachable',
  ENETUNREACH: 'postgres_unreachable',
  ENOTFOUND: 'postgres_unreachable',
  EAI_AGAIN: 'postgres_unreachable',
  ENOSPC: 'disk_full',
};

/** Message of `pg` if a socket ended during a query or before the next query. This error has no code. */
const lostMessage = /^(?:Connection terminated|Client has encountered a connection error|Client was closed)/u;
/** Message if a pool got no connection in time. This error has no code. */
const unreachableMessage =
  /^(?:timeout exceeded when trying to connect|timeout expired|Connection terminated due to connection timeout)/u;

/** Message if a password is missing, or cannot be sent to the server. This error has no code. */
const refusedMessage = /^SASL: /u;

/**
 * Messages of `pg` if a server does not support TLS, and of servers and poolers if a client has no TLS or no
 * certificate.
 */
const tlsMessage = /^The server does not support SSL|^SSL required$|valid client certificate/u;
const isAboutTls = (error: Error): boolean => tlsFailure(error) !== null || tlsMessage.test(error.message);

/**
 * Turns an error of work on a database into its operating failure. Other errors (a wrong statement, a broken invariant)
 * are returned unchanged. Only this function converts SQLSTATEs to error codes. The table of error codes decides about
 * retries.
 */
export function postgresFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const code = codeOfPostgresError(error);
  return code === null ? error : new AppError(code, `${what[code]}: ${error.message}`, {}, error);
}

/** The code for an error of `pg`. `null` if the error is not an operating failure. */
export function codeOfPostgresError(error: Error): keyof typeof what | null {
  if (isAboutTls(error)) return 'postgres_tls';
  if (refusedMessage.test(error.message)) return 'postgres_refused';
  if (unreachableMessage.test(error.message)) return 'postgres_unreachable';
  if (lostMessage.test(error.message)) return 'postgres_lost';
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string') return null;
  if (codeBySystem[code] !== undefined) return codeBySystem[code];
  if (syscall === 'connect') return forbiddenSocket.has(code) ? 'postgres_refused' : 'postgres_unreachable';
  if (!/^[0-9A-Z]{5}$/u.test(code)) return null;
  for (let length = code.length; length >= 2; length--) {
    const found = codeByState[code.slice(0, length)];
    if (found !== undefined) return found;
  }
  return null;
}
