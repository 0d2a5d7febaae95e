import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';

const folder = join(import.meta.dirname, '../../../migrations/chain');

/**
 * Drops the schema `chain` and makes it anew without tables. Returns what runs its migrations with numbers from one
 * (`0011`) to below another; absent: to the last.
 */
export async function chainFromNothing(
  pool: pg.Pool,
): Promise<(from: string, below?: string) => Promise<void>> {
  await pool.query('DROP SCHEMA chain CASCADE; CREATE SCHEMA chain; SET search_path TO chain');
  const files = (await readdir(folder)).toSorted();
  return async (from, below) => {
    for (const name of files)
      if (name >= from && (below === undefined || name < below))
        await pool.query(await readFile(join(folder, name), 'utf8'));
  };
}
