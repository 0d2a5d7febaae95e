import { strict as assert } from 'node:assert';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { outboxChannel } from '#kernel/contracts/outbox.ts';
import { firstCumulative, nextCumulative } from '#kernel/events/cumulative-hash.ts';
import { eventKinds, eventTextVersion } from '#kernel/events/event-text-writer.ts';
import type { Batch, BlockEvents } from './batch.ts';

const deflateBytes = promisify(deflate);
/** Half of a text is txids, which nothing makes smaller: more effort takes five times as long for a few percent. */
const deflateLevel = 1;

/** The texts of a batch as they are stored, made by threads of zlib; null where a block keeps none. */
export function deflateTexts(events: readonly BlockEvents[]): Promise<(Buffer | null)[]> {
  return Promise.all(
    events.map(async ({ text }) => (text === null ? null : deflateBytes(text, { level: deflateLevel }))),
  );
}

/**
 * Adds the rows of a batch to the outbox and the chain of hashes, forgets texts that are too old by now, and wakes those
 * who listen: two statements, in the transaction of the batch and before its blocks. A block whose predecessor should
 * have a hash and has none gets none here (events/complete-event-hashes.ts).
 */
export async function addToOutbox(
  tx: pg.ClientBase,
  batch: Batch,
  texts: readonly (Buffer | null)[],
): Promise<void> {
  const { events, after, keptEventBlocks } = batch;
  const hashed = events.filter(({ sha256 }) => sha256 !== null);
  const { last, cumulative } = await readEnd(tx, batch, hashed[0]?.ref.height ?? 0);
  const hashes = chainHashes(hashed, cumulative);
  const keepAbove = keptEventBlocks === null ? -1 : (after.tip?.height ?? -1) - keptEventBlocks;
  await tx.query(
    `WITH added AS (
       INSERT INTO chain.outbox (sequence, height, block_hash, event_count, events)
       SELECT $1::bigint + at, height, hash, count, events
       FROM unnest($2::integer[], $3::bytea[], $4::integer[], $5::bytea[]) WITH ORDINALITY AS o(height, hash, count, events, at)
     ), hashed AS (
       INSERT INTO chain.event_hashes (kind, version, height, sha256, cumulative_sha256)
       SELECT $6, $7, h.* FROM unnest($8::integer[], $9::bytea[], $10::bytea[]) AS h
     ), forgotten AS (
       UPDATE chain.outbox SET events = NULL WHERE events IS NOT NULL AND height <= $11
     ) SELECT pg_notify('${outboxChannel}', '')`,
    [
      last,
      events.map(({ ref }) => ref.height),
      events.map(({ ref }) => Buffer.from(ref.hash)),
      events.map(({ count }) => count),
      texts,
      eventKinds.inscriptions,
      eventTextVersion,
      hashes.map(({ height }) => height),
      hashes.map(({ sha256 }) => sha256),
      hashes.map(({ cumulative: hash }) => hash),
      keepAbove,
    ],
  );
}

/** The last sequence, and the cumulative hash before a height. */
async function readEnd(
  tx: pg.ClientBase,
  batch: Batch,
  height: number,
): Promise<{ last: number; cumulative: Uint8Array | null }> {
  const { rows } = await tx.query<{ last: number | null; cumulative: Buffer | null }>(
    `SELECT (SELECT max(sequence) FROM chain.outbox) AS last,
       (SELECT cumulative_sha256 FROM chain.event_hashes WHERE kind = $1 AND version = $2 AND height = $3 - 1) AS cumulative`,
    [eventKinds.inscriptions, eventTextVersion, height],
  );
  const { last = null, cumulative = null } = rows[0] ?? {};
  if (last !== null || batch.before.tip === null) return { last: last ?? 0, cumulative };
  await completeOutbox(tx);
  return readEnd(tx, batch, height);
}

interface HashRow {
  readonly height: number;
  readonly sha256: Buffer;
  readonly cumulative: Buffer;
}

/** The hashes of consecutive blocks, from the one before them on, or from the block on with which a chain begins. */
function chainHashes(events: readonly BlockEvents[], before: Uint8Array | null): HashRow[] {
  const rows: HashRow[] = [];
  let previous = before;
  for (const { ref, sha256, isFirstHashed } of events) {
    if (isFirstHashed) previous = firstCumulative;
    if (previous === null || sha256 === null) continue;
    const cumulative = nextCumulative(previous, sha256);
    rows.push({ height: ref.height, sha256, cumulative });
    previous = cumulative;
  }
  return rows;
}

/**
 * Gives a database that was filled before there was an outbox a row for each of its blocks, in their order. Costs one
 * question where there is nothing to do. In a transaction.
 */
export async function completeOutbox(tx: pg.ClientBase): Promise<void> {
  const { rows } = await tx.query(
    'SELECT WHERE EXISTS (SELECT FROM chain.blocks) AND NOT EXISTS (SELECT FROM chain.outbox)',
  );
  if (rows.length === 0) return;
  // no join: those of the writer's session are by index, row by row
  await tx.query(
    `INSERT INTO chain.outbox (sequence, height, block_hash, event_count)
     SELECT row_number() OVER (ORDER BY height), height, string_agg(hash, ''::bytea), sum(events)
     FROM (
       SELECT height, hash, 0 AS events FROM chain.blocks
       UNION ALL SELECT spent_height, NULL, 1 FROM chain.locations WHERE spent_height IS NOT NULL
       UNION ALL SELECT height, NULL, 1 FROM chain.inscriptions
     ) AS happened GROUP BY height`,
  );
}

/** Adds the row of a block that is being taken back, in the transaction that deletes the block's rows. */
export async function recordUndone(tx: pg.ClientBase, { height, hash }: BlockRef): Promise<void> {
  // a block that was applied, taken back and applied again has several rows: the last one counts
  const { rowCount } = await tx.query(
    `WITH added AS (
       INSERT INTO chain.outbox (sequence, height, block_hash, cancels, event_count)
       SELECT (SELECT max(sequence) + 1 FROM chain.outbox), applied.height, applied.block_hash, applied.sequence, 0
       FROM (SELECT height, block_hash, sequence FROM chain.outbox
             WHERE height = $1 AND block_hash = $2 AND cancels IS NULL ORDER BY sequence DESC LIMIT 1) AS applied
       RETURNING sequence
     ) SELECT pg_notify('${outboxChannel}', '') FROM added`,
    [height, hash],
  );
  assert(rowCount === 1, 'a block that is taken back has no row in the outbox');
}
