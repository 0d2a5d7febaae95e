import { AppError } from '#kernel/errors/app-error.ts';

/** SQLSTATE classes of a server that ends or is ending a connection (PostgreSQL manual, appendix A). */
const lostStates = /^(?:08|57P0)/u;
const lostErrors = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT']);
/** `pg` has no code for a socket that ended, while a query waits or before the next one. */
const lostMessage = /^(?:Connection terminated|Client has encountered a connection error|Client was closed)/u;
/** Nor for a pool that got no connection in time. */
const unreachableMessage =
  /^(?:timeout exceeded when trying to connect|Connection terminated due to connection timeout)/u;
/** SQLSTATE of a server that has no connection left (PostgreSQL manual, appendix A). */
const tooManyConnections = '53300';

/**
 * What was thrown, or `postgres_unreachable` where it says that there was no connection to be had, and `postgres_lost` that one
 * broke in the middle of work.
 */
export function connectionLost(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const { code } = error as { code?: unknown };
  if (code === tooManyConnections || unreachableMessage.test(error.message)) {
    return new AppError('postgres_unreachable', `Postgres gave no connection: ${error.message}`, {}, error);
  }
  const isLost =
    lostMessage.test(error.message) ||
    (typeof code === 'string' && (lostErrors.has(code) || lostStates.test(code)));
  if (!isLost) return error;
  return new AppError('postgres_lost', `The connection to Postgres was lost: ${error.message}`, {}, error);
}
