import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { contentLengthsOf, keyColumns, keyColumnsOf } from '#search/segments/column-queries.ts';
import { planSeal, type SealBounds, sealedEnd, windowEnd } from '#search/segments/segment-table.ts';
import {
  deleteSegments,
  lockSegments,
  readSealState,
  type SealState,
  segmentKinds,
} from '#search/segments/segments.ts';
import type { SealOutcome, SealPolicy } from './seal-texts.ts';

/** Kinds of segments that are made inside the server, without reading a text. */
export type ColumnKind = 'inscriptions' | 'lengths';

/** Whether there are enough unsealed keys or contents to seal them. */
export function areColumnsDue(
  kind: ColumnKind,
  bounds: SealBounds,
  policy: SealPolicy,
  { next, segments }: SealState,
): boolean {
  const tail = sealedEnd(segments[kind]);
  const end = windowEnd(tail, bounds.windowIds);
  const limit = Math.min(next[kind], end);
  return tail < limit && (limit === end || (policy.partial && limit - tail > policy.idsAbove));
}

/**
 * Seals the next range of inscription keys, or of contents: makes columns from the values for filters, sorts and
 * counts. This runs inside the server, in one transaction during which an undo waits (about 200 ms for a full window).
 */
export function sealColumns(
  pool: pg.Pool,
  kind: ColumnKind,
  bounds: SealBounds,
  policy: SealPolicy,
): Promise<SealOutcome> {
  return withTransaction(pool, async (tx) => {
    await lockSegments(tx);
    const state = await readSealState(tx);
    if (!areColumnsDue(kind, bounds, policy, state)) return 'nothing';
    const segments = state.segments[kind];
    const limit = Math.min(state.next[kind], windowEnd(sealedEnd(segments), bounds.windowIds));
    const { firstId, nextId, replaced } = planSeal(segments, limit, 0, bounds);
    await deleteSegments(
      tx,
      replaced.map((segment) => segment.segmentId),
    );
    const found = await insertColumns[kind](tx, firstId, nextId);
    if (found !== nextId - firstId) throw new Error(`${kind} ${firstId} to ${nextId - 1} are ${found}`);
    return 'sealed';
  });
}

const newSegment = `
  WITH segment AS (
    INSERT INTO chain.search_segments (kind, first_id, next_id, text_bytes) VALUES ($3, $1, $2, 0)
    RETURNING segment_id)`;

/** Keyed by kind: a function that inserts the columns of a range and returns the number of existing ids in it. */
const insertColumns: Readonly<
  Record<ColumnKind, (tx: pg.ClientBase, firstId: number, nextId: number) => Promise<number>>
> = {
  inscriptions: async (tx, firstKey, nextKey) => {
    const { rows } = await tx.query<{ bytes: number }>(
      `${newSegment}
       INSERT INTO chain.search_columns (segment_id, ${keyColumns.join(', ')})
       SELECT (SELECT segment_id FROM segment), columns.* FROM (${keyColumnsOf('$1', '$2')}) AS columns
       RETURNING octet_length(content_ids) AS bytes`,
      [firstKey, nextKey, segmentKinds.inscriptions],
    );
    return (rows[0]?.bytes ?? 0) / 4;
  },
  lengths: async (tx, firstId, nextId) => {
    const { rows } = await tx.query<{ bytes: number }>(
      `${newSegment}
       INSERT INTO chain.search_lengths (segment_id, lengths)
       SELECT (SELECT segment_id FROM segment), columns.* FROM (${contentLengthsOf('$1', '$2')}) AS columns
       RETURNING octet_length(lengths) AS bytes`,
      [firstId, nextId, segmentKinds.lengths],
    );
    return (rows[0]?.bytes ?? 0) / 4;
  },
};
