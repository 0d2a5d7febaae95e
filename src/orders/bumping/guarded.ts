import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';

/**
 * Does a part of a look at what is stuck, and gives what went wrong, or null. Whatever is wrong with one bump must stop
 * neither the others nor orders. Without the database or the node nothing can be done: this throws then.
 */
export async function guarded(work: () => Promise<void>): Promise<Error | null> {
  try {
    await work();
    return null;
  } catch (thrown) {
    const error = postgresFailure(thrown);
    if (isOutage(error)) throw error;
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What a node says of one call concerns that call alone. */
const isOutage = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.code.startsWith('postgres_') ||
    (error.code.startsWith('node_') && error.code !== 'node_call_failed'));
