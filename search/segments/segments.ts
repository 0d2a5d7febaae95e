import type pg from 'pg';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import type { Segment } from './segment-table.ts';

/** The values of chain.search_segments.kind. They are stored, so never change a value. */
export const segmentKinds = { content: 0, metadata: 1, inscriptions: 2, lengths: 3 } as const;
export type SegmentKind = keyof typeof segmentKinds;

/** Location of the texts of a corpus: table, key, and the expression of the folded text. */
export interface TextSource {
  readonly table: string;
  readonly id: string;
  readonly folded: string;
  /** SQL condition for rows with a searchable text. */
  readonly searchable: string;
}

export const textSources: Readonly<Record<Corpus, TextSource>> = {
  content: {
    table: 'chain.contents',
    id: 'content_id',
    folded: 'CASE text WHEN 1 THEN body ELSE folded END',
    searchable: 'text <> 0',
  },
  metadata: {
    table: 'chain.metadata_texts',
    id: 'metadata_id',
    folded: 'coalesce(folded, json)',
    searchable: 'true',
  },
};

/** The first ids that no committed block uses. */
export interface NextIds {
  readonly content: number;
  readonly metadata: number;
  readonly inscriptions: number;
  /** Like `content`, for the lengths of contents. */
  readonly lengths: number;
}

export interface SealState {
  /** The undo epoch. Null: the tables are empty. */
  readonly epoch: number | null;
  readonly next: NextIds;
  /** Segments by kind, ascending. The segments of a kind begin at 0 and have no gaps. */
  readonly segments: Readonly<Record<SegmentKind, readonly Segment[]>>;
}

interface SegmentRow {
  segment_id: number;
  kind: number;
  first_id: number;
  next_id: number;
  text_bytes: number;
}

interface NextRow {
  undo_epoch: number;
  next_key: number | null;
  next_content_id: number | null;
  next_metadata_id: number | null;
}

const kinds: readonly SegmentKind[] = ['content', 'metadata', 'inscriptions', 'lengths'];

/** The segments that a transaction sees. */
export async function readSegments(
  client: pg.ClientBase | pg.Pool,
): Promise<Readonly<Record<SegmentKind, Segment[]>>> {
  const { rows } = await client.query<SegmentRow>({
    name: 'search-segments',
    text: 'SELECT segment_id, kind, first_id, next_id, text_bytes FROM chain.search_segments ORDER BY kind, first_id',
  });
  const segments: Record<SegmentKind, Segment[]> = {
    content: [],
    metadata: [],
    inscriptions: [],
    lengths: [],
  };
  for (const row of rows) {
    segments[kinds[row.kind] as SegmentKind].push({
      segmentId: row.segment_id,
      firstId: row.first_id,
      nextId: row.next_id,
      textBytes: row.text_bytes,
    });
  }
  return segments;
}

/** The sealed segments, and the texts to seal. */
export async function readSealState(client: pg.ClientBase | pg.Pool): Promise<SealState> {
  const { rows } = await client.query<NextRow>(
    `SELECT undo_epoch, next_key, next_content_id, next_metadata_id
       FROM chain.state
       LEFT JOIN LATERAL (SELECT * FROM chain.blocks ORDER BY height DESC LIMIT 1) AS tip ON true`,
  );
  const row = rows[0];
  return {
    epoch: row?.undo_epoch ?? null,
    next: {
      content: row?.next_content_id ?? 0,
      metadata: row?.next_metadata_id ?? 0,
      inscriptions: row?.next_key ?? 0,
      lengths: row?.next_content_id ?? 0,
    },
    segments: await readSegments(client),
  };
}

/**
 * Waits until no other process writes or removes segments, and excludes others until the end of the transaction. In
 * READ COMMITTED, later reads see what the others wrote.
 */
export async function lockSegments(tx: pg.ClientBase): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.sealer]);
}

/** Deletes segments with everything that belongs to them. */
export async function deleteSegments(tx: pg.ClientBase, segmentIds: readonly number[]): Promise<void> {
  if (segmentIds.length === 0) return;
  await tx.query(
    `WITH postings AS (DELETE FROM chain.search_postings WHERE segment_id = ANY($1)),
          columns AS (DELETE FROM chain.search_columns WHERE segment_id = ANY($1)),
          lengths AS (DELETE FROM chain.search_lengths WHERE segment_id = ANY($1))
     DELETE FROM chain.search_segments WHERE segment_id = ANY($1)`,
    [segmentIds],
  );
}
