import type { ClientBase } from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** Selects the indexes that exist. The writer builds indexes at the end of a first sync, or after an upgrade. */
export async function builtIndexes(client: ClientBase, names: readonly string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = 'chain'::regnamespace AND c.relname = ANY($1) AND i.indisvalid`,
    [names],
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Guards queries that would read a complete table without their indexes. Throws `index_missing`, with the indexed
 * height, until all indexes are built.
 *
 * @param subject the objects that the indexes find, in words
 */
export async function requireIndexes(
  client: ClientBase,
  names: readonly string[],
  subject: string,
): Promise<void> {
  const built = await builtIndexes(client, names);
  const indexes = names.filter((name) => !built.has(name));
  if (indexes.length === 0) return;
  const { rows } = await client.query<{ height: Height | null }>(
    'SELECT tip_height AS height FROM chain.state',
  );
  const height = rows[0]?.height ?? null;
  const reached = height === null ? 'no block is indexed yet' : `blocks are indexed up to height ${height}`;
  throw new AppError(
    'index_missing',
    `the index of ${subject} is still being built (${reached}); try again later`,
    { indexes, height },
  );
}
