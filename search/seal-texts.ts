import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { SealTask } from './seal.worker.ts';
import { planSeal, type SealBounds, type SealStep, type Segment, sealedEnd, windowEnd } from './seal-plan.ts';
import { deleteSegments, lockSegments, readSealState, segmentKinds, textSources } from './segments.ts';

/** What of a window that is not complete yet is to be sealed. */
export interface SealPolicy {
  /** False: whole windows only. */
  readonly partial: boolean;
  /** Where more ids, or bytes of text, than these are not sealed. */
  readonly idsAbove: number;
  readonly bytesAbove: number;
}

/** `changed`: somebody else sealed, or blocks were taken back, meanwhile; nothing was written. */
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
 * Seals the next range of texts of a corpus: reads them in one moment, has their postings made, and writes these where
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

/** The texts to be sealed next, or null where the policy says that there are none. */
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
  if (epoch === null || tail >= limit || (limit < end && !policy.partial)) return null;
  const { nextId, textBytes } = await measureTexts(tx, corpus, tail, limit, bounds.segmentTextBytesMax);
  const due =
    limit === end || nextId < limit || limit - tail > policy.idsAbove || textBytes > policy.bytesAbove;
  if (!due) return null;
  const step = planSeal(segments, nextId, textBytes, bounds);
  const copy = await copyTexts(tx, corpus, step);
  const sealedBytes = step.replaced.reduce((sum, segment) => sum + segment.textBytes, textBytes);
  return { epoch, segments, step, textBytes: sealedBytes, copy };
}

/** How far one segment of at most `bytesMax` of text reaches (at least one text), and how much text that is. */
async function measureTexts(
  tx: pg.ClientBase,
  corpus: Corpus,
  firstId: number,
  limit: number,
  bytesMax: number,
): Promise<{ nextId: number; textBytes: number }> {
  const source = textSources[corpus];
  const { rows } = await tx.query<{ next_id: number | null; text_bytes: number | null }>(
    `SELECT max(id) + 1 AS next_id, max(total) AS text_bytes
       FROM (SELECT ${source.id} AS id, sum(octet_length(${source.folded})) OVER (ORDER BY ${source.id}) AS total
               FROM ${source.table} WHERE ${source.id} >= $1 AND ${source.id} < $2) AS texts
      WHERE total IS NULL OR total <= $3`,
    [firstId, limit, bytesMax],
  );
  const row = rows[0];
  return { nextId: row?.next_id ?? firstId + 1, textBytes: row?.text_bytes ?? 0 };
}

/** The texts of a range as a binary COPY in a buffer of its own. */
async function copyTexts(
  tx: pg.ClientBase,
  corpus: Corpus,
  step: SealStep,
): Promise<Uint8Array<ArrayBuffer>> {
  const { table, id, folded, searchable } = textSources[corpus];
  // a COPY takes no parameters; these are integers of ours
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
