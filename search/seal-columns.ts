import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { planSeal, type SealBounds, sealedEnd, windowEnd } from './seal-plan.ts';
import type { SealOutcome, SealPolicy } from './seal-texts.ts';
import { deleteSegments, lockSegments, readSealState, segmentKinds } from './segments.ts';

/**
 * Seals the next range of inscription keys: their content and metadata ids become columns, made within the server, in one
 * transaction that keeps an undo waiting (about 50 ms for a whole window).
 */
export function sealColumns(pool: pg.Pool, bounds: SealBounds, policy: SealPolicy): Promise<SealOutcome> {
  return withTransaction(pool, async (tx) => {
    await lockSegments(tx);
    const { next, segments } = await readSealState(tx);
    const tail = sealedEnd(segments.inscriptions);
    const end = windowEnd(tail, bounds.windowIds);
    const limit = Math.min(next.inscriptions, end);
    if (tail >= limit) return 'nothing';
    if (limit < end && (!policy.partial || limit - tail <= policy.idsAbove)) return 'nothing';
    const { firstId, nextId, replaced } = planSeal(segments.inscriptions, limit, 0, bounds);
    await deleteSegments(
      tx,
      replaced.map((segment) => segment.segmentId),
    );
    await insertColumns(tx, firstId, nextId);
    return 'sealed';
  });
}

async function insertColumns(tx: pg.ClientBase, firstKey: number, nextKey: number): Promise<void> {
  const { rows } = await tx.query<{ bytes: number }>(
    `WITH segment AS (
       INSERT INTO chain.search_segments (kind, first_id, next_id, text_bytes) VALUES ($1, $2, $3, 0)
       RETURNING segment_id)
     INSERT INTO chain.search_columns (segment_id, content_ids, metadata_keys, metadata_ids)
     SELECT (SELECT segment_id FROM segment),
            coalesce(string_agg(int4send(coalesce(content_id, -1)), '' ORDER BY key), ''),
            coalesce(string_agg(int2send((key - $2 - 32768)::smallint), '' ORDER BY key)
                     FILTER (WHERE metadata_id IS NOT NULL), ''),
            coalesce(string_agg(int4send(metadata_id), '' ORDER BY key) FILTER (WHERE metadata_id IS NOT NULL), '')
       FROM (SELECT key, content_id, metadata_id FROM chain.inscriptions
              WHERE key >= $2 AND key < $3 ORDER BY key) AS keys
     RETURNING octet_length(content_ids) AS bytes`,
    [segmentKinds.inscriptions, firstKey, nextKey],
  );
  const found = (rows[0]?.bytes ?? 0) / 4;
  if (found !== nextKey - firstKey) {
    throw new Error(`keys ${firstKey} to ${nextKey - 1} are ${found} inscriptions`);
  }
}
