import type pg from 'pg';
import type { BlockPlace } from '#chain/arrivals/arrived-blocks.queries.ts';

/** Blocks that have confirmed findings. */
export async function readConfirmedBlocks(client: pg.ClientBase): Promise<BlockPlace[]> {
  // one step of the index for each block, because a block may have many findings
  const { rows } = await client.query<BlockPlace>(
    `WITH RECURSIVE found AS (
       (SELECT block_hash AS hash, height FROM service.watch_findings
         WHERE state = 'confirmed' ORDER BY block_hash LIMIT 1)
       UNION ALL
       SELECT next.* FROM found CROSS JOIN LATERAL (
         SELECT block_hash, height FROM service.watch_findings
          WHERE state = 'confirmed' AND block_hash > found.hash ORDER BY block_hash LIMIT 1) AS next
     ) SELECT hash, height FROM found`,
  );
  return rows;
}

/** The blocks of a list that have confirmed findings of active watches. */
export async function readLiveBlocks(
  client: pg.ClientBase,
  blocks: readonly BlockPlace[],
): Promise<BlockPlace[]> {
  if (blocks.length === 0) return [];
  const { rows } = await client.query<BlockPlace>(
    `SELECT DISTINCT f.block_hash AS hash, f.height
       FROM service.watch_findings AS f JOIN service.watches AS w ON w.id = f.watch_id
      WHERE f.state = 'confirmed' AND f.block_hash = ANY($1) AND w.ended_at IS NULL`,
    [blocks.map(({ hash }) => hash)],
  );
  return rows;
}
