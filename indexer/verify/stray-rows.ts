import type pg from 'pg';
import type { DerivedTable } from '#indexer/derived/derived-table.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Difference } from './difference.ts';

/**
 * Rows up to a height that no block wrote. Every row of a block has an id of the block, or follows from a location that
 * the block ended. All other rows have ids that no block assigned, or are locations without an event.
 */
export async function strayRows(
  client: pg.ClientBase,
  height: Height,
  tables: readonly DerivedTable[],
): Promise<Difference[]> {
  const ofDerived = tables.flatMap(({ strays }) => strays ?? []).map((query) => `UNION ALL (${query})`);
  const { rows } = await client.query<{ table: string; row: string; height: Height }>(
    `WITH ends AS (
       SELECT (SELECT first_key FROM chain.blocks ORDER BY height LIMIT 1) AS first_key,
         next_key, next_content_id, next_metadata_id FROM chain.blocks ORDER BY height DESC LIMIT 1)
     SELECT 'chain.inscriptions' AS table, 'key ' || key AS row, height FROM chain.inscriptions, ends
       WHERE key >= next_key OR key < first_key
     UNION ALL SELECT 'chain.inscription_details', 'key ' || key, $1 FROM chain.inscription_details, ends
       WHERE key >= next_key OR key < first_key
     UNION ALL SELECT 'chain.parents', 'child_key ' || child_key, height FROM chain.parents, ends
       WHERE child_key >= next_key OR child_key < first_key
     UNION ALL SELECT 'chain.contents', 'content_id ' || content_id, $1 FROM chain.contents, ends
       WHERE content_id >= next_content_id OR content_id < 0
     UNION ALL SELECT 'chain.metadata_texts', 'metadata_id ' || metadata_id, $1 FROM chain.metadata_texts, ends
       WHERE metadata_id >= next_metadata_id OR metadata_id < 0
     UNION ALL SELECT 'chain.locations', 'key ' || l.key || ', height ' || l.height || ', step ' || l.step, l.height
       FROM chain.locations l LEFT JOIN chain.inscriptions i ON i.key = l.key
       WHERE l.height <= $1 AND (i.key IS NULL OR (i.height <> l.height AND NOT EXISTS (
         SELECT FROM chain.locations before WHERE before.key = l.key AND before.spent_height = l.height)))
     UNION ALL SELECT 'chain.event_hashes', 'kind ' || kind || ', height ' || e.height, e.height
       FROM chain.event_hashes e LEFT JOIN chain.blocks b ON b.height = e.height WHERE b.height IS NULL
     ${ofDerived.join(' ')}
     LIMIT 100`,
    [height],
  );
  return rows.map((row) => ({ ...row, column: null, expected: null, found: 'a row' }));
}
