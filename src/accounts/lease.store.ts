import type pg from 'pg';

/** A request of a process to a bucket: the number of tokens that it wants, and the number that it returns. */
export interface LeaseAsk {
  readonly subject: string;
  /** Tokens that flow into the bucket per second, and the capacity of the bucket. */
  readonly perSecond: number;
  readonly burst: number;
  readonly wanted: number;
  readonly givenBack: number;
}

export interface LeaseGrant {
  readonly subject: string;
  /** Number of granted tokens, from 0 to the number that the process wanted. */
  readonly granted: number;
  /** Tokens left in the bucket, including a fraction of a token. */
  readonly level: number;
}

/**
 * Takes tokens out of buckets, in one statement for all subjects. A missing bucket is full. Each subject may occur
 * once. The time comes from the database's clock, so the clocks of processes do not matter; `at` is for tests only.
 * Rows are locked in a fixed order, so concurrent processes wait for each other but never deadlock. `level` rises only
 * by the rate and by returned tokens, and falls only by granted tokens. docs/access.md derives the bound from this.
 */
export async function lease(
  pool: pg.Pool,
  asks: readonly LeaseAsk[],
  at: Date | null = null,
): Promise<readonly LeaseGrant[]> {
  const { rows } = await pool.query<LeaseGrant>(
    `INSERT INTO service.rate_limits AS r (subject, level, at, per_second, burst, wanted, given_back, granted)
     SELECT subject, burst - least(wanted, floor(burst)), coalesce($6, clock_timestamp()), per_second, burst, wanted, given_back,
            least(wanted, floor(burst))
       FROM unnest($1::text[], $2::float8[], $3::float8[], $4::int[], $5::int[])
         AS asked (subject, per_second, burst, wanted, given_back)
      ORDER BY subject
     ON CONFLICT (subject) DO UPDATE SET
       per_second = excluded.per_second, burst = excluded.burst, wanted = excluded.wanted, given_back = excluded.given_back,
       (level, granted, at) = (
         SELECT full_level - least(excluded.wanted, floor(full_level)), least(excluded.wanted, floor(full_level)), greatest(r.at, now_at)
           FROM (SELECT now_at, least(excluded.burst, r.level + excluded.given_back
                          + greatest(0, extract(epoch FROM now_at - r.at)) * excluded.per_second) AS full_level
                   FROM (SELECT coalesce($6, clock_timestamp()) AS now_at) AS clock) AS filled)
     RETURNING subject, granted, level`,
    [
      asks.map(({ subject }) => subject),
      asks.map(({ perSecond }) => perSecond),
      asks.map(({ burst }) => burst),
      asks.map(({ wanted }) => wanted),
      asks.map(({ givenBack }) => givenBack),
      at,
    ],
  );
  return rows;
}

/** Deletes buckets that are full again, because a missing bucket is full too. Returns the number of deleted buckets. */
export async function forgetFullBuckets(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM service.rate_limits
      WHERE subject IN (
        SELECT subject FROM service.rate_limits
         WHERE level + extract(epoch FROM clock_timestamp() - at) * per_second >= burst
         ORDER BY subject FOR UPDATE SKIP LOCKED)`,
  );
  return rowCount ?? 0;
}
