import type pg from 'pg';
import { changesAfterSql } from '#chain/arrivals/arrived-blocks.queries.ts';

/** How far watches were compared with the chain and the mempool. */
export interface WatchesOffset {
  /** Identity of the index whose outbox was read. */
  readonly identity: string;
  readonly sequence: number;
  /** Height of the last block. -1: watches were never followed at the tip. */
  readonly height: number;
  readonly position: number;
}

/** Null: watches were never followed. */
export async function readWatchesOffset(client: pg.ClientBase): Promise<WatchesOffset | null> {
  const { rows } = await client.query<WatchesOffset>(
    `SELECT index_identity AS identity, sequence, height, mempool_position AS position FROM service.watches_offset`,
  );
  return rows[0] ?? null;
}

/** Stores the offset. Call it in the transaction of the findings. */
export async function writeWatchesOffset(
  tx: pg.ClientBase,
  { identity, sequence, height, position }: WatchesOffset,
): Promise<void> {
  await tx.query(
    `INSERT INTO service.watches_offset (index_identity, sequence, height, mempool_position) VALUES ($1, $2, $3, $4)
     ON CONFLICT (one) DO UPDATE SET index_identity = excluded.index_identity, sequence = excluded.sequence,
       height = excluded.height, mempool_position = excluded.mempool_position, updated_at = now()`,
    [identity, sequence, height, position],
  );
}

/** Lets all active watches match from the first row of another outbox on. */
export async function forgetSince(tx: pg.ClientBase): Promise<void> {
  await tx.query('UPDATE service.watches SET since = 0 WHERE ended_at IS NULL AND since > 0');
}

/** Figures about watches, for metrics. */
export interface WatchesStanding {
  /** Number of active watches. */
  readonly active: number;
  /** Number of things that active watches ever found. */
  readonly found: number;
  /** Number of changes of the chain that were not matched yet. Null: watches were never followed. */
  readonly behind: number | null;
}

export async function readWatchesStanding(client: pg.Pool | pg.ClientBase): Promise<WatchesStanding> {
  // without watches nothing is matched, and the stored offset is old
  const { rows } = await client.query<WatchesStanding>(
    `SELECT count(*) AS active, coalesce(sum(found), 0)::bigint AS found,
            CASE WHEN count(*) = 0 THEN 0
                 ELSE (SELECT ${changesAfterSql('o.sequence')} FROM service.watches_offset AS o) END AS behind
       FROM service.watches WHERE ended_at IS NULL`,
  );
  return rows[0] ?? { active: 0, found: 0, behind: null };
}
