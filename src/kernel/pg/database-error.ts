import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { tlsFailure } from '#kernel/errors/tls-failure.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { codeOfPostgresError } from './postgres-failure.ts';

/**
 * Turns an error of `pg` during connecting into an AppError. It is `postgres_refused` if the server denies access,
 * `postgres_tls` if client and server cannot agree on TLS, and otherwise `postgres_unreachable`. An AppError is
 * returned unchanged.
 */
export function databaseError(error: unknown, url: string): AppError {
  if (error instanceof AppError) return error;
  const found = error instanceof Error ? codeOfPostgresError(error) : null;
  // no work was in progress, so nothing was lost
  const code = found === null || found === 'postgres_lost' ? 'postgres_unreachable' : found;
  const sqlState = String((error as { code?: unknown }).code);
  const reason = error instanceof Error && error.message !== '' ? error.message : sqlState;
  const what = whatHappened(code, error, sqlState);
  const hint = unencrypted.test(reason)
    ? ' (if the server demands TLS, its address needs sslmode=require)'
    : '';
  return new AppError(code, `Postgres at ${shownAddress(url)} ${what}: ${reason}${hint}`, {}, error);
}

/** End of the message of a server that refuses a connection without TLS, for any reason. */
const unencrypted = /, (?:no encryption|SSL off)$/u;

function whatHappened(code: ErrorCode, error: unknown, sqlState: string): string {
  if (code === 'postgres_refused') return 'refused the connection';
  if (code === 'postgres_tls') {
    return tlsFailure(error) === 'certificate'
      ? 'answers, but its certificate is not trusted'
      : 'answers, but the connection by TLS failed';
  }
  // only an answer has an SQLSTATE; codes of the system begin with E
  return /^(?!E)[0-9A-Z]{5}$/u.test(sqlState) ? 'answers, but accepts no connection' : 'does not answer';
}
