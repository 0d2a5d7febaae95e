import type { Pool } from 'pg';
import type { Height } from '#kernel/primitives/height.ts';

/** Progress of the rebuild of all blocks' sales by newer rules. */
export interface RemadeSales {
  readonly rules: number;
  readonly isRemade: boolean;
  /** Number of rebuilt blocks and of all blocks in the rebuild, each with their size in bytes. */
  readonly blocks: number;
  readonly bytes: number;
  readonly blocksTotal: number;
  readonly bytesTotal: number;
  /** Number of inscriptions in the rebuilt blocks. */
  readonly inscriptions: number;
}

/** Reads the progress by a scan over the rows of all blocks. `null` if the database has no table of sales. */
export async function readRemadeSales(pool: Pool): Promise<RemadeSales | null> {
  const { rows } = await pool.query<RemadeSales>(
    `SELECT d.rules, d.is_remade AS "isRemade", b.*
     FROM chain.derived_tables d, LATERAL (
       SELECT count(*)::integer AS "blocksTotal", coalesce(sum(size_bytes), 0)::float8 AS "bytesTotal",
         (count(*) FILTER (WHERE height <= d.tip_height))::integer AS blocks,
         coalesce(sum(size_bytes) FILTER (WHERE height <= d.tip_height), 0)::float8 AS bytes,
         coalesce(sum(next_key - first_key) FILTER (WHERE NOT d.is_remade OR height <= d.tip_height), 0)::integer AS inscriptions
       FROM chain.blocks WHERE height >= d.from_height
     ) AS b WHERE d.name = 'sales'`,
  );
  return rows[0] ?? null;
}

/** The number of sales and accepted offers in the whole chain, and the height of the last block. */
export async function countSales(
  pool: Pool,
): Promise<{ readonly sales: number; readonly height: Height | null }> {
  const { rows } = await pool.query<{ sales: number; height: Height | null }>(
    'SELECT (SELECT count(*) FROM chain.sales)::float8 AS sales, tip_height AS height FROM chain.state',
  );
  return rows[0] ?? { sales: 0, height: null };
}
