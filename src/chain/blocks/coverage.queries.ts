import type pg from 'pg';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** The blocks that a response is based on. If these blocks lack an item, another block may still have it. */
export interface Coverage {
  /** Lowest and highest indexed height. `null` if the index is empty. */
  readonly fromHeight: Height | null;
  readonly toHeight: Height | null;
  /** Number of indexed blocks between the two heights. */
  readonly blocks: number;
  /**
   * Share of indexed blocks among those from the network's first possible inscription to `toHeight`. 0 to 1; below 1 if
   * a block is missing.
   */
  readonly share: number;
  /** True if no block up to `toHeight` that can hold an inscription is missing. */
  readonly complete: boolean;
}

/**
 * Reads the coverage from the tip downwards. `toHeight` is the height of `tip`. The query reads one row per island, not
 * one per block.
 */
export async function readCoverage(
  db: pg.ClientBase,
  { firstInscriptionHeight }: NetworkParameters,
  tip: Tip | null,
): Promise<Coverage> {
  const { rows } = await db.query<{ from_height: Height | null; blocks: number; holders: number }>(
    `WITH RECURSIVE runs(top, bottom) AS (
       (SELECT height, island_height FROM chain.blocks WHERE height <= $1 ORDER BY height DESC LIMIT 1)
       UNION ALL
       SELECT below.height, below.island_height FROM runs, LATERAL (
         SELECT height, island_height FROM chain.blocks
         WHERE height < runs.bottom ORDER BY height DESC LIMIT 1
       ) AS below
     )
     SELECT min(bottom) AS from_height, coalesce(sum(top - bottom + 1), 0)::int AS blocks,
       coalesce(sum(greatest(0, top - greatest(bottom, $2) + 1)), 0)::int AS holders
     FROM runs`,
    [tip?.height ?? -1, firstInscriptionHeight],
  );
  const {
    from_height: fromHeight,
    blocks,
    holders,
  } = rows[0] ?? { from_height: null, blocks: 0, holders: 0 };
  if (tip === null || fromHeight === null) {
    return { fromHeight: null, toHeight: null, blocks: 0, share: 0, complete: false };
  }
  const possible = Math.max(0, tip.height - firstInscriptionHeight + 1);
  const complete = holders === possible;
  return { fromHeight, toHeight: tip.height, blocks, share: shareOf(holders, possible), complete };
}

/** The share with six decimal digits. It is never 1 if a block is missing. */
function shareOf(part: number, whole: number): number {
  return part === whole ? 1 : Math.floor((part / whole) * 1e6) / 1e6;
}

/**
 * Whether the index knows every inscription and its location, because no block that matters is missing or lacks its
 * inputs.
 */
export async function knowsInscriptions(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ is_whole: boolean }>(
    `SELECT anchored AND (has_spent OR tx_count <= 1) AS is_whole
     FROM chain.blocks ORDER BY height DESC LIMIT 1`,
  );
  return rows[0]?.is_whole ?? false;
}

/**
 * The height at which the last run of blocks with known spent outputs begins. Only the blocks above the height `above`,
 * up to `to`, are searched. A run begins after a gap, or after a block whose spent outputs are unknown. If `to` is such
 * a block, the result is the next height. Returns `null` if the run extends down to `above`.
 */
export async function lastRunWithSpent(
  client: pg.ClientBase,
  above: number,
  to: Height,
): Promise<number | null> {
  const { rows } = await client.query<{ begins: number | null }>(
    `SELECT max(CASE WHEN NOT is_known THEN height + 1 WHEN before IS DISTINCT FROM height - 1 THEN height END) AS begins
     FROM (
       SELECT height, has_spent OR tx_count <= 1 AS is_known, lag(height) OVER (ORDER BY height) AS before
       FROM chain.blocks WHERE height BETWEEN $1 AND $2
     ) AS blocks WHERE height > $1`,
    [above, to],
  );
  return rows[0]?.begins ?? null;
}
