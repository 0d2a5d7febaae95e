import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';

/**
 * Runs a part of a round of bumps. Returns its error, or null. An error of one bump must stop neither other bumps nor
 * orders. Throws if the database or the node does not answer, because nothing else works then.
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

/** `node_call_failed` concerns one call; other errors of the node or of Postgres are outages. */
const isOutage = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.code.startsWith('postgres_') ||
    (error.code.startsWith('node_') && error.code !== 'node_call_failed'));
