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
  type TextSealBounds,
  windowEnd,
} from '#search/segments/segment-table.ts';
import {
  deleteSegments,
  lockSegments,
  readSealState,
  type SealState,
  segmentKinds,
  textSources,
} from '#search/segments/segments.ts';
import type { SealResult, SealTask } from './seal.worker.ts';
import { UnsealedBytes, type UnsealedRange } from './unsealed-bytes.ts';

/** Decides how much of an unfinished window to seal. */
export interface SealPolicy {
  /** False: seal only full windows, or as much text as fits in one segment. */
  readonly partial: boolean;
  /** Minimum number of unsealed ids, or bytes of text, above which a range is sealed. */
  readonly idsAbove: number;
  readonly bytesAbove: number;
}

/** `changed`: another process sealed, or blocks were taken back meanwhile. Nothing was written then. */
export type SealOutcome = 'sealed' | 'changed' | 'nothing';

export type SealWorker = (task: SealTask) => Promise<Omit<SealResult, 'spans'>>;

interface TextsRead {
  readonly epoch: number;
  readonly segments: readonly Segment[];
  readonly step: SealStep;
  readonly copy: Uint8Array<ArrayBuffer>;
}

/**
 * Seals the next range of texts of a corpus. Reads the texts in one moment and builds their postings. Writes the
 * postings if nothing that they depend on has changed.
 */
export async function sealTexts(
  pool: pg.Pool,
  worker: SealWorker,
  corpus: Corpus,
  bounds: TextSealBounds,
  policy: SealPolicy,
  unsealed = new UnsealedBytes(),
): Promise<SealOutcome> {
  const seal = async (mayReplace: boolean): Promise<SealOutcome> => {
    const read = await withTransaction(
      pool,
      (tx) => readTexts(tx, corpus, bounds, policy, unsealed, mayReplace),
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    );
    if (read === null) return 'nothing';
    const segmentId = await nextSegmentId(pool);
    const { firstId } = read.step;
    const tailId = sealedEnd(read.segments);
    const made = await worker({
      copy: read.copy,
      segmentId,
      baseId: firstId - (firstId % 8),
      tailId,
      weightMax: bounds.segmentTextBytesMax,
      frequentMin: bounds.frequentMin,
    });
    // the segments that should be replaced leave no room for the next text
    if (made.stoppedAt === tailId) return seal(false);
    return withTransaction(pool, (tx) => writeSegment(tx, corpus, read, segmentId, made));
  };
  return seal(true);
}

/** Whether enough texts of a corpus are unsealed to seal them. `end` is the end of their window. */
export async function areTextsDue(
  client: pg.ClientBase | pg.Pool,
  corpus: Corpus,
  bounds: SealBounds,
  { partial, idsAbove, bytesAbove }: SealPolicy,
  unsealed: UnsealedBytes,
  state: SealState,
): Promise<boolean> {
  const range = unsealedRange(state, corpus, bounds);
  if (range === null) return false;
  const { firstId, nextId } = range;
  if (nextId === windowEnd(firstId, bounds.windowIds) || (partial && nextId - firstId > idsAbove))
    return true;
  return (await unsealed.count(client, corpus, range)) > (partial ? bytesAbove : bounds.segmentTextBytesMax);
}

/** The unsealed ids of the first window that has unsealed ids. */
function unsealedRange(
  { epoch, next, segments }: SealState,
  corpus: Corpus,
  bounds: SealBounds,
): UnsealedRange | null {
  const firstId = sealedEnd(segments[corpus]);
  const nextId = Math.min(next[corpus], windowEnd(firstId, bounds.windowIds));
  return epoch === null || firstId >= nextId ? null : { epoch, firstId, nextId };
}

/** The texts to seal next. Null: by the policy, nothing is sealed now. */
async function readTexts(
  tx: pg.ClientBase,
  corpus: Corpus,
  bounds: SealBounds,
  policy: SealPolicy,
  unsealed: UnsealedBytes,
  mayReplace: boolean,
): Promise<TextsRead | null> {
  const state = await readSealState(tx);
  const range = unsealedRange(state, corpus, bounds);
  if (range === null || !(await areTextsDue(tx, corpus, bounds, policy, unsealed, state))) return null;
  const { epoch, firstId, nextId } = range;
  const bytes = await unsealed.count(tx, corpus, range);
  const reach =
    bytes <= bounds.segmentTextBytesMax
      ? { nextId, bytes }
      : await reachOf(tx, corpus, range, bounds.segmentTextBytesMax);
  const segments = state.segments[corpus];
  const step = mayReplace
    ? planSeal(segments, reach.nextId, reach.bytes, bounds)
    : { firstId, nextId: reach.nextId, replaced: [] };
  return { epoch, segments, step, copy: await copyTexts(tx, corpus, step) };
}

/** The id up to which texts have at most `bytesMax` bytes (at least one text), and their number of bytes. */
async function reachOf(
  tx: pg.ClientBase,
  corpus: Corpus,
  { firstId, nextId }: UnsealedRange,
  bytesMax: number,
): Promise<{ nextId: number; bytes: number }> {
  const { table, id, folded, searchable } = textSources[corpus];
  const { rows } = await tx.query<{ next_id: number | null; bytes: number | null }>(
    `SELECT max(id) + 1 AS next_id, max(total) AS bytes
       FROM (SELECT ${id} AS id, sum(octet_length(${folded})) OVER (ORDER BY ${id}) AS total
               FROM ${table} WHERE ${id} >= $1 AND ${id} < $2 AND ${searchable}) AS texts
      WHERE total <= $3`,
    [firstId, nextId, bytesMax],
  );
  // if the first text is too long, it gets its own segment
  return { nextId: rows[0]?.next_id ?? firstId + 1, bytes: rows[0]?.bytes ?? bytesMax };
}

/** The texts of a range as a binary COPY, in a new buffer. */
async function copyTexts(
  tx: pg.ClientBase,
  corpus: Corpus,
  step: SealStep,
): Promise<Uint8Array<ArrayBuffer>> {
  const { table, id, folded, searchable } = textSources[corpus];
  // a COPY takes no parameters, so these integers of ours are in the SQL
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
  { epoch, segments, step }: TextsRead,
  segmentId: number,
  { rows, stoppedAt, weight }: Omit<SealResult, 'spans'>,
): Promise<SealOutcome> {
  await lockSegments(tx);
  const now = await readSealState(tx);
  if (now.epoch !== epoch || !sameSegments(now.segments[corpus], segments)) return 'changed';
  await deleteSegments(
    tx,
    step.replaced.map((segment) => segment.segmentId),
  );
  await tx.query(
    `INSERT INTO chain.search_segments (segment_id, kind, first_id, next_id, text_bytes)
     OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5)`,
    [segmentId, segmentKinds[corpus], step.firstId, stoppedAt ?? step.nextId, weight],
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
