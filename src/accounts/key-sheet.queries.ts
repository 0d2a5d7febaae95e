import type pg from 'pg';

/** Facts of a key for its owner. */
export interface KeySheet {
  readonly prefix: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/**
 * Reads by the hash, as the role that answers requests reads keys by it alone. Null: it does not exist or was revoked.
 */
export async function readKeySheet(pool: pg.Pool, hash: Buffer): Promise<KeySheet | null> {
  const { rows } = await pool.query<KeySheet>(
    `SELECT prefix, created_at AS "createdAt", last_used_at AS "lastUsedAt"
       FROM service.keys_by_hash(ARRAY[$1::bytea])`,
    [hash],
  );
  return rows[0] ?? null;
}
