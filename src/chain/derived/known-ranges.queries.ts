import type { ClientBase } from 'pg';

/**
 * Whether the ranges of all unspent outputs are known. A first load with the index of sats writes the newest ranges,
 * and the index on them, at its end. Until then, responses contain no ranges.
 */
export async function knowsSatRanges(client: ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM chain.derived_tables d, chain.state s
     WHERE d.name = 'sats' AND d.is_followed AND s.tip_height IS NOT NULL
       AND NOT EXISTS (SELECT FROM chain.recent_sats) AND to_regclass('chain.sat_ranges_outpoint') IS NOT NULL`,
  );
  return rowCount === 1;
}
