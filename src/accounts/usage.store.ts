import type pg from 'pg';

/** Number of requests of a key to one group of routes on one day (UTC, `2026-11-21`). */
export interface UsageLine {
  readonly keyId: number;
  readonly day: string;
  readonly endpoints: string;
  readonly requests: number;
  /** Number of requests that were refused because of the rate. They are not included in `requests`. */
  readonly refused: number;
}

/** Adds counts, and moves `last_used_at` forward. One statement does both, so all changes are made or none. */
export async function addUsage(pool: pg.Pool, lines: readonly UsageLine[], lastUsed: Date): Promise<void> {
  if (lines.length === 0) return;
  await pool.query(
    `WITH counted AS (
       SELECT * FROM unnest($1::int[], $2::date[], $3::text[], $4::bigint[], $5::bigint[])
         AS c (key_id, day, endpoints, requests, refused)
     ), used AS (
       -- in one order, so that processes that write at once do not wait for each other in a circle
       SELECT id FROM service.keys WHERE id IN (SELECT key_id FROM counted) ORDER BY id FOR NO KEY UPDATE
     ), moved AS (
       UPDATE service.keys SET last_used_at = greatest(last_used_at, $6)
        WHERE id IN (SELECT id FROM used)
     )
     INSERT INTO service.key_usage AS u (key_id, day, endpoints, requests, refused)
     SELECT key_id, day, endpoints, requests, refused FROM counted JOIN used ON id = key_id
      ORDER BY key_id, day, endpoints
     ON CONFLICT (key_id, day, endpoints)
     DO UPDATE SET requests = u.requests + excluded.requests, refused = u.refused + excluded.refused`,
    [
      lines.map(({ keyId }) => keyId),
      lines.map(({ day }) => day),
      lines.map(({ endpoints }) => endpoints),
      lines.map(({ requests }) => requests),
      lines.map(({ refused }) => refused),
      lastUsed,
    ],
  );
}

/** Reads the counts of the given keys from a day on, newest first. */
export async function usageSince(
  pool: pg.Pool,
  keyIds: readonly number[],
  day: string,
): Promise<readonly UsageLine[]> {
  const { rows } = await pool.query<UsageLine>(
    `SELECT key_id AS "keyId", to_char(day, 'YYYY-MM-DD') AS day, endpoints, requests, refused
       FROM service.key_usage WHERE key_id = ANY($1) AND day >= $2::date
      ORDER BY day DESC, key_id, endpoints`,
    [keyIds, day],
  );
  return rows;
}
