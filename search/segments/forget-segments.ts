import type pg from 'pg';
import { deleteSegments, lockSegments } from './segments.ts';

/**
 * Removes segments in the transaction that takes blocks back (READ COMMITTED). Every segment with ids above the
 * remaining ids is removed whole; searches scan its remaining texts until these are sealed again. The lock is held
 * until the end of the transaction, so a sealer that read earlier finds another undo_epoch.
 */
export async function forgetAbove(
  client: pg.ClientBase,
  left: { readonly nextKey: number; readonly nextContentId: number; readonly nextMetadataId: number },
): Promise<void> {
  await lockSegments(client);
  const { rows } = await client.query<{ segment_id: number }>(
    `SELECT segment_id FROM chain.search_segments
      WHERE next_id > CASE kind WHEN 1 THEN $2::integer WHEN 2 THEN $3::integer ELSE $1::integer END`,
    [left.nextContentId, left.nextMetadataId, left.nextKey],
  );
  await deleteSegments(
    client,
    rows.map((row) => row.segment_id),
  );
}
