import type pg from 'pg';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import type { Slice } from './inscription-matcher.ts';
import { planNeedles } from './needle-plan.ts';

/** A pending inscription by its place in the tables. */
export interface PendingRef {
  readonly position: number;
  readonly index: number;
}

export interface PendingHits {
  /** Of the slice, in the order in which they came to be known. */
  readonly refs: readonly PendingRef[];
  /** Exact. */
  readonly totalItems: number;
}

/** How a corpus stands in chain.pending_inscriptions. */
const folded = {
  content: 'CASE text WHEN 1 THEN body WHEN 2 THEN folded END',
  metadata: 'coalesce(metadata_folded, metadata_json)',
} as const satisfies Record<Corpus, string>;

const none: PendingHits = { refs: [], totalItems: 0 };

/**
 * Pending inscriptions whose texts have all needles (folded), in the moment of the client's snapshot: a scan, because
 * what is pending is bounded (docs/mempool.md) and gone in an hour.
 */
export async function matchPendingTexts(
  client: pg.ClientBase,
  corpus: Corpus,
  needles: readonly string[],
  slice: Slice,
): Promise<PendingHits> {
  const plan = planNeedles(needles);
  if (plan === null) return none;
  const first = 3;
  const hasAll = plan.all.map((_, index) => `position($${first + index} in ${folded[corpus]}) > 0`);
  return readHits(client, hasAll.join(' AND '), slice, plan.all);
}

/** Pending inscriptions of a content, by the sha256 of its stored or decoded bytes. */
export async function matchPendingHash(
  client: pg.ClientBase,
  hash: Uint8Array,
  slice: Slice,
): Promise<PendingHits> {
  return readHits(client, 'sha256 = $3 OR decoded_sha256 = $3', slice, [Buffer.from(hash)]);
}

async function readHits(
  client: pg.ClientBase,
  condition: string,
  { offset, limit }: Slice,
  values: readonly Buffer[],
): Promise<PendingHits> {
  const { rows } = await client.query<{ total: number; position: number | null; index: number | null }>(
    `WITH matches AS MATERIALIZED (
       SELECT position, index FROM chain.pending_inscriptions WHERE ${condition})
     SELECT total.count::integer AS total, page.position, page.index
       FROM (SELECT count(*) FROM matches) AS total
       LEFT JOIN LATERAL (SELECT position, index FROM matches ORDER BY position, index OFFSET $1 LIMIT $2)
         AS page ON true
      ORDER BY page.position, page.index`,
    [offset, limit, ...values],
  );
  const refs = rows.flatMap(({ position, index }) =>
    position === null || index === null ? [] : [{ position, index }],
  );
  return { refs, totalItems: rows[0]?.total ?? 0 };
}

/** The revision of what is pending; null: nobody follows a mempool. */
export async function pendingRevision(client: pg.ClientBase): Promise<number | null> {
  const { rows } = await client.query<{ revision: number }>('SELECT revision FROM chain.pending_state');
  return rows[0]?.revision ?? null;
}
