import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';

const migrations = join(import.meta.dirname, '../../../migrations');

type Migrating = (from: string, below?: string) => Promise<void>;

/**
 * Drops the schema `chain` and creates it again without tables. Returns a function that runs the schema's migrations,
 * from one number (`0011`) up to, but without, a second number. Without a second number it runs all later ones.
 */
export const chainFromNothing = (pool: pg.Pool): Promise<Migrating> => fromNothing(pool, 'chain');

/** Does the same as `chainFromNothing` for the schema `service`. */
export const serviceFromNothing = (pool: pg.Pool): Promise<Migrating> => fromNothing(pool, 'service');

async function fromNothing(pool: pg.Pool, schema: 'chain' | 'service'): Promise<Migrating> {
  await pool.query(`DROP SCHEMA ${schema} CASCADE; CREATE SCHEMA ${schema}; SET search_path TO ${schema}`);
  const folder = join(migrations, schema);
  const files = (await readdir(folder)).toSorted();
  return async (from, below) => {
    for (const name of files)
      if (name >= from && (below === undefined || name < below))
        await pool.query(await readFile(join(folder, name), 'utf8'));
  };
}
