import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { shownAddress } from '#kernel/shown-address.ts';

// SQLSTATE classes of failed connections (PostgreSQL manual, appendix A).
const codeBySqlState: Readonly<Record<string, ErrorCode>> = {
  '28000': 'postgres_refused',
  '28P01': 'postgres_refused',
  '3D000': 'postgres_refused',
  '42501': 'postgres_refused',
};

/**
 * Turns an error of `pg` while connecting into an AppError: `postgres_refused` where the server does not let us in,
 * `postgres_unreachable` for everything between us and it. An AppError stays as it is.
 */
export function databaseError(error: unknown, url: string): AppError {
  if (error instanceof AppError) return error;
  const sqlState = (error as { code?: unknown }).code;
  const code =
    typeof sqlState === 'string'
      ? (codeBySqlState[sqlState] ?? 'postgres_unreachable')
      : 'postgres_unreachable';
  const reason = error instanceof Error && error.message !== '' ? error.message : String(sqlState);
  const what = code === 'postgres_refused' ? 'refused the connection' : 'does not answer';
  return new AppError(code, `Postgres at ${shownAddress(url)} ${what}: ${reason}`, {}, error);
}
