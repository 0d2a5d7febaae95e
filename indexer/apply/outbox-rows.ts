import { strict as assert } from 'node:assert';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type pg from 'pg';
import type { BlockEvents, KindEvents } from '#indexer/events/block-events.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { outboxChannel } from '#kernel/contracts/outbox.ts';
import { inscriptionKind } from '#kernel/events/event-kind.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { chainHashes, type HashedBlocks, hashedByKind } from './event-chains.ts';

const deflateBytes = promisify(deflate);
/** Half of a text is txids, which do not compress: a higher level takes five times as long for a few per cent. */
const deflateLevel = 1;

/** The events of a block as they are stored: each text deflated, null where it is not kept. */
export interface StoredBlockEvents {
  readonly ref: BlockRef;
  readonly kinds: readonly (Omit<KindEvents, 'text'> & { readonly deflated: Buffer | null })[];
}

/** Deflates the texts of a block with the threads of zlib. */
export async function deflateTexts({ ref, kinds }: BlockEvents): Promise<StoredBlockEvents> {
  return {
    ref,
    kinds: await Promise.all(
      kinds.map(async ({ text, ...events }) => ({
        ...events,
        deflated: text === null ? null : await deflateBytes(text, { level: deflateLevel }),
      })),
    ),
  };
}

/** Where the outbox and the chains of hashes end. */
export interface OutboxEnd {
  /** The last sequence; 0: it is empty. */
  readonly sequence: number;
  /** The last hash of each chain of hashes, by the number of its kind. */
  readonly hashes: ReadonlyMap<number, EndOfHashes>;
}

export interface EndOfHashes {
  readonly version: number;
  readonly height: number;
  readonly cumulative: Uint8Array;
}

export interface OutboxAddition {
  /** Blocks that are applied, in chain order. */
  readonly blocks: readonly StoredBlockEvents[];
  /** Texts of blocks up to this height are deleted; null: none. */
  readonly forgetUpTo: number | null;
}

/** A statement, and where the outbox ends after it. */
export interface OutboxStatement {
  readonly text: string;
  readonly values: unknown[];
  readonly end: OutboxEnd;
}

/**
 * The statement that adds blocks to the outbox and to the chains of hashes, deletes texts that are too old by now, and
 * notifies listeners. A block whose predecessor lacks a hash that it should have gets none here
 * (complete-event-hashes.ts).
 */
export function addToOutbox(
  { sequence: last, hashes: before }: OutboxEnd,
  { blocks, forgetUpTo }: OutboxAddition,
): OutboxStatement {
  const hashed = hashedByKind(blocks);
  const hashes = hashed.flatMap((chain) => chainHashes(chain, hashBefore(chain, before)));
  const rows = blocks.map(outboxRow);
  const texts = blocks.flatMap((block, at) => textRows(block, last + 1 + at));
  const ends = new Map(before);
  for (const { number, ...end } of hashes) ends.set(number, end);
  return {
    end: { sequence: last + blocks.length, hashes: ends },
    text: `WITH added AS (
       INSERT INTO chain.outbox (sequence, height, block_hash, event_count, events)
       SELECT $1::bigint + at, height, hash, count, events
       FROM unnest($2::integer[], $3::bytea[], $4::integer[], $5::bytea[]) WITH ORDINALITY AS o(height, hash, count, events, at)
     ), added_texts AS (
       INSERT INTO chain.outbox_texts (sequence, kind, height, event_count, events)
       SELECT * FROM unnest($6::bigint[], $7::smallint[], $8::integer[], $9::integer[], $10::bytea[])
     ), hashed AS (
       INSERT INTO chain.event_hashes (kind, version, height, sha256, cumulative_sha256)
       SELECT * FROM unnest($11::smallint[], $12::smallint[], $13::integer[], $14::bytea[], $15::bytea[])
     ), forgotten AS (
       UPDATE chain.outbox SET events = NULL WHERE events IS NOT NULL AND height <= $16
     ), forgotten_texts AS (
       UPDATE chain.outbox_texts SET events = NULL WHERE events IS NOT NULL AND height <= $16
     ) SELECT pg_notify('${outboxChannel}', '')`,
    values: [
      last,
      rows.map(({ height }) => height),
      rows.map(({ hash }) => hash),
      rows.map(({ count }) => count),
      rows.map(({ deflated }) => deflated),
      texts.map(({ sequence }) => sequence),
      texts.map(({ number }) => number),
      texts.map(({ height }) => height),
      texts.map(({ count }) => count),
      texts.map(({ deflated }) => deflated),
      hashes.map(({ number }) => number),
      hashes.map(({ version }) => version),
      hashes.map(({ height }) => height),
      hashes.map(({ sha256 }) => sha256),
      hashes.map(({ cumulative: hash }) => hash),
      forgetUpTo ?? -1,
    ],
  };
}

/** The cumulative hash before the first of some blocks; null: there is none. */
function hashBefore(
  { number, version, blocks }: HashedBlocks,
  ends: ReadonlyMap<number, EndOfHashes>,
): Uint8Array | null {
  const end = ends.get(number);
  const first = blocks[0]?.height ?? 0;
  return end !== undefined && end.version === version && end.height === first - 1 ? end.cumulative : null;
}

interface OutboxRow {
  readonly height: Height;
  readonly hash: BlockHash;
  readonly count: number;
  readonly deflated: Buffer | null;
}

/** The row of a block itself, with its inscription events. */
function outboxRow({ ref, kinds }: StoredBlockEvents): OutboxRow {
  const own = kinds.find(({ kind }) => kind.number === inscriptionKind.number);
  return {
    height: ref.height,
    hash: ref.hash,
    count: own?.count ?? 0,
    deflated: own?.deflated ?? null,
  };
}

interface TextRow {
  readonly sequence: number;
  readonly number: number;
  readonly height: Height;
  readonly count: number;
  readonly deflated: Buffer | null;
}

/** The events of a block of all other kinds. Below the first height of a kind there are none. */
function textRows({ ref: { height }, kinds }: StoredBlockEvents, sequence: number): TextRow[] {
  return kinds
    .filter(({ kind, firstHeight }) => kind.number !== inscriptionKind.number && height >= firstHeight)
    .map(({ kind: { number }, count, deflated }) => ({ sequence, number, height, count, deflated }));
}

/**
 * Where the outbox and the chains of hashes of these blocks end before them. Completes an outbox that is older than the
 * blocks of its database.
 *
 * @param isFirst there is no block before these
 */
export async function readOutboxEnd(
  client: pg.ClientBase,
  blocks: readonly StoredBlockEvents[],
  isFirst: boolean,
): Promise<OutboxEnd> {
  const chains = hashedByKind(blocks).map(({ number, version, blocks: [first] }) => ({
    number,
    version,
    height: (first?.height ?? 0) - 1,
  }));
  const { rows } = await client.query<{
    last: number | null;
    kind: number | null;
    cumulative: Buffer | null;
  }>(
    `SELECT o.last, h.kind, h.cumulative_sha256 AS cumulative
     FROM (SELECT max(sequence) AS last FROM chain.outbox) AS o
     LEFT JOIN unnest($1::smallint[], $2::smallint[], $3::integer[]) AS c(kind, version, height) ON true
     LEFT JOIN chain.event_hashes h ON h.kind = c.kind AND h.version = c.version AND h.height = c.height`,
    [
      chains.map(({ number }) => number),
      chains.map(({ version }) => version),
      chains.map(({ height }) => height),
    ],
  );
  const sequence = rows[0]?.last ?? null;
  if (sequence === null && !isFirst) {
    await withTransaction(client, completeOutbox);
    return readOutboxEnd(client, blocks, true);
  }
  const hashes = new Map<number, EndOfHashes>();
  for (const { number, version, height } of chains) {
    const cumulative = rows.find(({ kind }) => kind === number)?.cumulative ?? null;
    if (cumulative !== null) hashes.set(number, { version, height, cumulative });
  }
  return { sequence: sequence ?? 0, hashes };
}

/**
 * Gives a database that was filled before the outbox existed a row for each of its blocks, in their order. Costs one
 * query where nothing is to do. Needs a transaction.
 */
export async function completeOutbox(tx: pg.ClientBase): Promise<void> {
  const { rows } = await tx.query(
    'SELECT WHERE EXISTS (SELECT FROM chain.blocks) AND NOT EXISTS (SELECT FROM chain.outbox)',
  );
  if (rows.length === 0) return;
  // no join: the writer's session joins by index, row by row
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

/** Adds the row for a block that is taken back, in the transaction that deletes the block's rows. */
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
