import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';

/** SQLSTATEs, or their first characters, and what they are here (PostgreSQL manual, appendix A). The longest that fits counts. */
const codeByState: Readonly<Record<string, keyof typeof what>> = {
  // the server, or something between, ends a connection; of a database that was dropped the next connection tells
  '08': 'postgres_lost',
  '57P': 'postgres_lost',
  '25P03': 'postgres_lost',
  // it starts, ends or recovers, or has no connection left
  '57P03': 'postgres_unreachable',
  '53300': 'postgres_unreachable',
  '53100': 'disk_full',
  // memory, or another limit of its settings
  '53': 'postgres_exhausted',
  // deadlock, serialisation, a lock that was not waited for
  '40': 'postgres_conflict',
  '55P03': 'postgres_conflict',
  // a standby, or a server that was set so
  '25006': 'postgres_read_only',
  // a time limit, or somebody cancelled it
  '57014': 'postgres_timeout',
  // pages or indexes that cannot be right, a disk that gives errors
  XX001: 'postgres_damaged',
  XX002: 'postgres_damaged',
  '58030': 'postgres_damaged',
  // a file of a table that is not there
  '58P01': 'postgres_damaged',
  '28': 'postgres_refused',
  '3D000': 'postgres_refused',
  '42501': 'postgres_refused',
};

const what = {
  postgres_lost: 'The connection to Postgres was lost',
  postgres_unreachable: 'Postgres gave no connection',
  postgres_exhausted: 'Postgres has not what a statement needs',
  postgres_conflict: 'Postgres took back a transaction that stood in the way of another',
  postgres_read_only: 'Postgres takes no writes',
  postgres_timeout: 'Postgres ended a statement',
  postgres_damaged: 'Postgres cannot read its own data',
  postgres_refused: 'Postgres refused what is needed',
  disk_full: 'The disk of the database is full',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** What the system says of a socket file that we may not use. Without a server there is no such file. */
const forbiddenSocket = new Set(['EACCES', 'EPERM']);

/** What the system says of sockets and names, and of the disk of a server on this machine. */
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

/** `pg` has no code for a socket that ended, while a query waits or before the next one. */
const lostMessage = /^(?:Connection terminated|Client has encountered a connection error|Client was closed)/u;
/** Nor for a pool that got no connection in time. */
const unreachableMessage =
  /^(?:timeout exceeded when trying to connect|timeout expired|Connection terminated due to connection timeout)/u;

/**
 * What was thrown by work on a database, as the operating failure that it is; what is none (a statement that is wrong, a broken
 * invariant) stays what it is. The one place where SQLSTATEs become codes; whether a code passes is in their table.
 */
export function postgresFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const code = codeOf(error);
  return code === null ? error : new AppError(code, `${what[code]}: ${error.message}`, {}, error);
}

function codeOf(error: Error): keyof typeof what | null {
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
