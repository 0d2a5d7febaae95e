import type pg from 'pg';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import { type ErrorCode, errorCodes } from '#kernel/errors/error-codes.ts';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

interface StatusRow {
  state: FollowerStatus['state'];
  source: string;
  source_height: Height | null;
  source_hash: BlockHash | null;
  problem_code: string | null;
  problem_message: string | null;
  problem_since: Date | null;
  updated_at: Date;
  tip_time: number | null;
  age_seconds: number;
  now: Date;
}

/** The last report of the indexing process, with data that only the database has. */
export interface FollowerReport {
  /** The report. `null` if there was none since the database was created, or since it crashed. */
  readonly status: FollowerStatus | null;
  /**
   * Seconds since `updatedAt`. They are measured by the database's clock, because the clocks of two machines may
   * differ.
   */
  readonly ageSeconds: number | null;
  /**
   * True if a process holds the writer's lock. The lock is released when the connection ends, for example in a crash.
   */
  readonly hasWriter: boolean;
  /** Unix time of the indexed tip, from its header. `null` if the index is empty. */
  readonly tipTime: number | null;
  /** Current time by the database's clock. */
  readonly now: Date;
}

/** The process that follows the chain, the age of its report, and whether it still holds its lock. */
export async function readFollowerReport(client: pg.Pool | pg.ClientBase): Promise<FollowerReport> {
  const { rows } = await client.query<StatusRow>(
    `SELECT status.state, status.source, status.source_height, status.source_hash, status.problem_code,
            status.problem_message, status.problem_since, status.updated_at,
            extract(epoch FROM clock_timestamp() - status.updated_at)::float8 AS age_seconds,
            tip.time AS tip_time, clock_timestamp() AS now
       FROM (VALUES (1)) AS one
       LEFT JOIN chain.follower_status AS status ON true
       LEFT JOIN LATERAL (SELECT time FROM chain.blocks ORDER BY height DESC LIMIT 1) AS tip ON true`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('a row of constants is always there');
  const said = row.updated_at !== null;
  return {
    status: said ? statusOf(row) : null,
    ageSeconds: said ? row.age_seconds : null,
    // read the lock after the row, because a process that takes over gets the lock before it writes a row
    hasWriter: await isAdvisoryLockHeld(client, 'writer'),
    tipTime: row.tip_time,
    now: row.now,
  };
}

function statusOf(row: StatusRow): FollowerStatus {
  const { source_height: height, source_hash: hash, problem_code: code } = row;
  return {
    state: row.state,
    source: row.source,
    sourceTip: height === null || hash === null ? null : { height, hash },
    problem:
      code === null || !isErrorCode(code)
        ? null
        : { code, message: row.problem_message ?? '', since: row.problem_since ?? row.updated_at },
    updatedAt: row.updated_at,
  };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}
