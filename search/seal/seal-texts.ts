import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import {
  planSeal,
  type SealBounds,
  type SealStep,
  type Segment,
  sealedEnd,
  windowEnd,
} from '#search/segments/segment-table.ts';
import {
  deleteSegments,
  lockSegments,
  readSealState,
  segmentKinds,
  textSources,
} from '#search/segments/segments.ts';
import type { SealTask } from './seal.worker.ts';

/** What to seal of a window that is not full yet. */
export interface SealPolicy {
  /** False: only full windows, and as much text as one segment takes. */
  readonly partial: boolean;
  /** Seals where more ids or bytes of text than these are unsealed. */
  readonly idsAbove: number;
  readonly bytesAbove: number;
}

/** `changed`: another process sealed, or blocks were taken back meanwhile; nothing was written. */
export type SealOutcome = 'sealed' | 'changed' | 'nothing';

export type SealWorker = (task: SealTask) => Promise<Uint8Array<ArrayBuffer>>;

interface TextsRead {
  readonly epoch: number;
  readonly segments: readonly Segment[];
  readonly step: SealStep;
  readonly textBytes: number;
  readonly copy: Uint8Array<ArrayBuffer>;
}

/**
 * Seals the next range of texts of a corpus: reads them in one moment, builds their postings, and writes these where
 * nothing that they depend on has changed.
 */
export async function sealTexts(
  pool: pg.Pool,
  worker: SealWorker,
  corpus: Corpus,
  bounds: SealBounds,
  policy: SealPolicy,
): Promise<SealOutcome> {
  const read = await withTransaction(
    pool,
    (tx) => readTexts(tx, corpus, bounds, policy),
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  );
  if (read === null) return 'nothing';
  const segmentId = await nextSegmentId(pool);
  const { firstId } = read.step;
  const rows = await worker({ copy: read.copy, segmentId, baseId: firstId - (firstId % 8) });
  return withTransaction(pool, (tx) => writeSegment(tx, corpus, read, segmentId, rows));
}

/** The texts to seal next. Null where the policy leaves everything as it is. */
async function readTexts(
  tx: pg.ClientBase,
  corpus: Corpus,
  bounds: SealBounds,
  policy: SealPolicy,
): Promise<TextsRead | null> {
  const { epoch, next, segments: all } = await readSealState(tx);
  const segments = all[corpus];
  const tail = sealedEnd(segments);
  const end = windowEnd(tail, bounds.windowIds);
  const limit = Math.min(next[corpus], end);
  if (epoch === null || tail >= limit) return null;
  const { partial, idsAbove, bytesAbove } = policy;
  const isDue =
    limit === end ||
    (partial && limit - tail > idsAbove) ||
    (await bytesOf(tx, corpus, tail, limit)) > (partial ? bytesAbove : bounds.segmentTextBytesMax);
  if (!isDue) return null;
  const { nextId, textBytes } = await weighTexts(tx, corpus, tail, limit, bounds.segmentTextBytesMax);
  const step = planSeal(segments, nextId, textBytes, bounds);
  const copy = await copyTexts(tx, corpus, step);
  const sealedBytes = step.replaced.reduce((sum, segment) => sum + segment.textBytes, textBytes);
  return { epoch, segments, step, textBytes: sealedBytes, copy };
}

/** Bytes of the texts of a range; the rows tell without reading the texts. */
async function bytesOf(tx: pg.ClientBase, corpus: Corpus, firstId: number, nextId: number): Promise<number> {
  const { table, id, folded } = textSources[corpus];
  const { rows } = await tx.query<{ bytes: number | null }>(
    `SELECT sum(octet_length(${folded})) AS bytes FROM ${table} WHERE ${id} >= $1 AND ${id} < $2`,
    [firstId, nextId],
  );
  return rows[0]?.bytes ?? 0;
}

/**
 * Extra weight of each byte of a character after the first. ASCII texts share their grams (2 million at most); in
 * wide scripts each character can make three new ones, at some 80 bytes each in the worker. So a segment of random
 * Chinese text closes at a million characters: 250 MB of grams.
 */
const wideByteWeight = 16;

/** How far one segment of at most `weightMax` reaches (at least one text), and the weight of its texts. */
async function weighTexts(
  tx: pg.ClientBase,
  corpus: Corpus,
  firstId: number,
  limit: number,
  weightMax: number,
): Promise<{ nextId: number; textBytes: number }> {
  const { table, id, folded, searchable } = textSources[corpus];
  const { rows } = await tx.query<{ next_id: number | null; weight: number | null; beyond: boolean }>(
    `SELECT max(id) FILTER (WHERE total <= $3) + 1 AS next_id, max(total) FILTER (WHERE total <= $3) AS weight,
            coalesce(bool_or(total > $3), false) AS beyond
       FROM (SELECT id, (sum(bytes + (bytes - length(convert_from(text, 'UTF8'))) * $4::bigint) OVER (ORDER BY id))::bigint AS total
               FROM (SELECT ${id} AS id, ${folded} AS text, octet_length(${folded}) AS bytes
                       FROM ${table} WHERE ${id} >= $1 AND ${id} < $2 AND ${searchable}) AS texts) AS weighed`,
    [firstId, limit, weightMax, wideByteWeight],
  );
  const row = rows[0];
  if (row?.beyond !== true) return { nextId: limit, textBytes: row?.weight ?? 0 };
  // a first text that is too heavy gets a segment of its own
  return { nextId: row.next_id ?? firstId + 1, textBytes: row.weight ?? weightMax };
}

/** The texts of a range as a binary COPY, in a buffer of its own. */
async function copyTexts(
  tx: pg.ClientBase,
  corpus: Corpus,
  step: SealStep,
): Promise<Uint8Array<ArrayBuffer>> {
  const { table, id, folded, searchable } = textSources[corpus];
  // a COPY takes no parameters; these are our own integers
  const stream = tx.query(
    copyTo(
      `COPY (SELECT ${id}, ${folded} FROM ${table}
              WHERE ${id} >= ${step.firstId} AND ${id} < ${step.nextId} AND ${searchable} ORDER BY ${id})
       TO STDOUT (FORMAT binary)`,
    ),
  );
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
  }
  const copy = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    copy.set(chunk, at);
    at += chunk.length;
  }
  return copy;
}

async function nextSegmentId(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(
    `SELECT nextval(pg_get_serial_sequence('chain.search_segments', 'segment_id')) AS id`,
  );
  return (rows[0] as { id: number }).id;
}

async function writeSegment(
  tx: pg.ClientBase,
  corpus: Corpus,
  read: TextsRead,
  segmentId: number,
  rows: Uint8Array<ArrayBuffer>,
): Promise<SealOutcome> {
  await lockSegments(tx);
  const now = await readSealState(tx);
  if (now.epoch !== read.epoch || !sameSegments(now.segments[corpus], read.segments)) return 'changed';
  await deleteSegments(
    tx,
    read.step.replaced.map((segment) => segment.segmentId),
  );
  await tx.query(
    `INSERT INTO chain.search_segments (segment_id, kind, first_id, next_id, text_bytes)
     OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5)`,
    [segmentId, segmentKinds[corpus], read.step.firstId, read.step.nextId, read.textBytes],
  );
  const stream = tx.query(
    copyFrom('COPY chain.search_postings (first_gram, segment_id, block) FROM STDIN (FORMAT binary)'),
  );
  await pipeline(Readable.from([Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)]), stream);
  return 'sealed';
}

function sameSegments(now: readonly Segment[], before: readonly Segment[]): boolean {
  return (
    now.length === before.length &&
    now.every((segment, index) => segment.segmentId === before[index]?.segmentId)
  );
}
