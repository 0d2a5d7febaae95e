import type pg from 'pg';

/** The data of a key that its owner may see. */
export interface KeySheet {
  readonly prefix: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/**
 * Reads the data of a key by its hash, because the role that answers requests can read keys only by their hash. Returns
 * `null` if the key does not exist or was revoked.
 */
export async function readKeySheet(pool: pg.Pool, hash: Buffer): Promise<KeySheet | null> {
  const { rows } = await pool.query<KeySheet>(
    `SELECT prefix, created_at AS "createdAt", last_used_at AS "lastUsedAt"
       FROM service.keys_by_hash(ARRAY[$1::bytea])`,
    [hash],
  );
  return rows[0] ?? null;
}
