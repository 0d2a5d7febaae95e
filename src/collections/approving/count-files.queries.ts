import type pg from 'pg';

export interface FileCounts {
  readonly files: number;
  /** Number of files whose bytes are stored. */
  readonly stored: number;
  readonly storedBytes: number;
}

/** Counts the files of a collection. */
export async function countFiles(client: pg.Pool | pg.ClientBase, collection: string): Promise<FileCounts> {
  const { rows } = await client.query<FileCounts>(
    `SELECT count(*)::integer AS files, count(sha256)::integer AS stored, coalesce(sum(bytes), 0)::float8 AS "storedBytes"
       FROM service.mint_files WHERE collection = $1`,
    [collection],
  );
  return rows[0] ?? { files: 0, stored: 0, storedBytes: 0 };
}
