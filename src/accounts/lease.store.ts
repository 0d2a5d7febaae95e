import type pg from 'pg';

/** What a process wants of a bucket, and what it gives back to it. */
export interface LeaseAsk {
  readonly subject: string;
  /** Tokens that flow in, and how many the bucket holds. */
  readonly perSecond: number;
  readonly burst: number;
  readonly wanted: number;
  readonly givenBack: number;
}

export interface LeaseGrant {
  readonly subject: string;
  /** From 0 to what was wanted. */
  readonly granted: number;
  /** What is left in the bucket, with its fraction. */
  readonly level: number;
}

/**
 * Takes tokens out of buckets, in one statement for all; a bucket that is not there is full. Each subject once. The clock is that of
 * the database, so that clocks of processes do not matter; `at` is there for tests alone. Rows are locked in one order: processes
 * that ask at once wait for each other, never in a circle. `level` only rises by the rate and by what is given back, and only falls
 * by what is granted: docs/access.md draws the bound from that.
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

/** Forgets buckets that are full again by now: one that is not there is full, too. Gives how many. */
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
