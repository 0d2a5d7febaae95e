import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { UndoneTables } from '#indexer/derived/derived-memories.ts';
import { tablesAbove, undoDerived } from '#indexer/derived/derived-state.ts';
import type { DerivedTable } from '#indexer/derived/derived-table.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import type { TrackedChanges } from '#indexer/ledger/ledger-block.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { completeOutbox, recordUndone } from './outbox-rows.ts';
import { ensureSecondaryIndexes, indexesForUndo } from './secondary-indexes.ts';

/** The first ids that are free again after blocks were taken back. */
export interface FreeIds {
  readonly nextKey: number;
  readonly nextContentId: number;
  readonly nextMetadataId: number;
}

/** Takes back rows that another area derived from these ids or higher ids, in the transaction that deletes them. */
export type UndoHook = (client: pg.ClientBase, free: FreeIds, undone: BlockRef) => Promise<void>;

/** A block that was taken back; in-memory state is updated from it. */
export interface UndoneBlock {
  readonly ref: BlockRef;
  /** The remaining tip. Null if no block remains. */
  readonly tip: BlockRef | null;
  readonly free: FreeIds;
  /** Argument with which `TrackedOutputs.apply` restores the outputs before the block. */
  readonly tracked: TrackedChanges;
  /** Changes that the in-memory state of derived tables must undo. */
  readonly derived: UndoneTables;
}

export interface UndoOptions {
  /** Stops before the next block and throws the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Called after each commit. */
  readonly onUndone?: (block: UndoneBlock) => void;
  /** Derived tables that the database may have. Absent: all known tables. */
  readonly tables?: readonly DerivedTable[];
  /** Reads older blocks from the source, for tables that do not keep their history. Absent: undo only reads tables. */
  readonly past?: PastChain | undefined;
}

/**
 * Takes back all blocks above a height (-1: all blocks), from the tip downwards. Each block is one transaction, with
 * its outbox row and its hooks. The cost depends on the content of the blocks, not on the size of the database. Rows
 * with new ids are deleted by range, and rows of old inscriptions by the moves of the block. Outputs that the block
 * spent become unspent. Counters need no undo: they are in the rows of blocks. Returns the remaining tip. Throws
 * `tip_changed` if another process wrote.
 */
export async function undoAbove(
  client: pg.ClientBase,
  height: Height | -1,
  hooks: readonly UndoHook[],
  { signal, onUndone, tables = derivedTables, past }: UndoOptions = {},
): Promise<BlockRef | null> {
  let tip = await readTip(client, height);
  if (tip.above === null) return tip.below;
  const affected = await tablesAbove(client, tables, height);
  await begin(client, height, affected, past ?? null);
  while (tip.above !== null) {
    signal?.throwIfAborted();
    const { above: ref, below, free } = tip;
    for (const table of affected) await table.prepareUndo?.(client, ref, past ?? null, signal);
    const undone = await withTransaction(client, (tx) => undoBlock(tx, { ref, below, free, hooks, tables }));
    onUndone?.({ ref, tip: below, free, ...undone });
    tip = await readTip(client, height);
  }
  return tip.below;
}

/** Prepares the database before the first block is taken back. */
async function begin(
  client: pg.ClientBase,
  height: Height | -1,
  tables: readonly DerivedTable[],
  past: PastChain | null,
): Promise<void> {
  for (const table of tables) await table.refuseUndo?.(client, height, past);
  // undo uses these indexes to find moved inscriptions and newest children; an interrupted first load lacks them
  await ensureSecondaryIndexes(client, { wanted: indexesForUndo(tables), tables });
  await withTransaction(client, completeOutbox);
}

interface TipRow {
  height: Height;
  hash: BlockHash;
  next_key: number;
  next_content_id: number;
  next_metadata_id: number;
}

/** The block to take back, if the tip is above the height, and the block below it. */
async function readTip(
  client: pg.ClientBase,
  height: Height | -1,
): Promise<{ above: BlockRef | null; below: BlockRef | null; free: FreeIds }> {
  const { rows } = await client.query<TipRow>(
    `SELECT height, hash, next_key, next_content_id, next_metadata_id
     FROM chain.blocks ORDER BY height DESC LIMIT 2`,
  );
  const isAbove = rows[0] !== undefined && rows[0].height > height;
  const left = isAbove ? rows[1] : rows[0];
  return {
    above: isAbove ? refOf(rows[0] as TipRow) : null,
    below: left === undefined ? null : refOf(left),
    free: {
      nextKey: left?.next_key ?? 0,
      nextContentId: left?.next_content_id ?? 0,
      nextMetadataId: left?.next_metadata_id ?? 0,
    },
  };
}

function refOf({ height, hash }: TipRow): BlockRef {
  return { height, hash: asBlockHash(Uint8Array.from(hash)) };
}

interface BlockToUndo {
  readonly ref: BlockRef;
  readonly below: BlockRef | null;
  readonly free: FreeIds;
  readonly hooks: readonly UndoHook[];
  readonly tables: readonly DerivedTable[];
}

async function undoBlock(
  tx: pg.ClientBase,
  { ref, below, free, hooks, tables }: BlockToUndo,
): Promise<Pick<UndoneBlock, 'tracked' | 'derived'>> {
  const derived = await undoDerived(tx, tables, ref, free.nextKey, below);
  const tracked = await takeBackLocations(tx, ref.height, free);
  await deleteRows(tx, ref.height, free);
  await recordUndone(tx, ref);
  for (const hook of hooks) await hook(tx, free, ref);
  failpoint('undo');
  const { rowCount } = await tx.query(
    `UPDATE chain.state SET tip_height = $1, tip_hash = $2, undo_epoch = undo_epoch + 1
     WHERE one AND tip_height = $3 AND tip_hash = $4`,
    [below?.height ?? null, below?.hash ?? null, ref.height, ref.hash],
  );
  if (rowCount === 1) return { tracked, derived };
  throw new AppError(
    'tip_changed',
    'The tip is no longer the last block, because another process wrote to the database.',
    {
      expected: ref.height,
    },
  );
}

/**
 * Deletes the rows of a block in one statement. This is possible because the tables do not depend on each other. Each
 * row is found by an index or in a small table.
 */
async function deleteRows(tx: pg.ClientBase, height: Height, free: FreeIds): Promise<void> {
  await tx.query(
    `WITH parents AS (DELETE FROM chain.parents WHERE child_key >= $1),
       details AS (DELETE FROM chain.inscription_details WHERE key >= $1),
       inscriptions AS (DELETE FROM chain.inscriptions WHERE key >= $1),
       contents AS (DELETE FROM chain.contents WHERE content_id >= $2),
       metadata AS (DELETE FROM chain.metadata_texts WHERE metadata_id >= $3),
       hashes AS (DELETE FROM chain.event_hashes WHERE height >= $4),
       provenance AS (DELETE FROM chain.provenance WHERE height >= $4)
     DELETE FROM chain.blocks WHERE height >= $4`,
    [free.nextKey, free.nextContentId, free.nextMetadataId, height],
  );
}

/**
 * Deletes the block's locations and restores the locations that it spent. A moved inscription has a row that this block
 * spent, so no scan of all locations is needed. Fingerprints are returned as one value, 8 bytes each.
 */
async function takeBackLocations(
  tx: pg.ClientBase,
  height: Height,
  { nextKey }: FreeIds,
): Promise<TrackedChanges> {
  const made = await fingerprintsOf(
    tx,
    `DELETE FROM chain.locations WHERE key >= $1
     RETURNING CASE WHEN spent_height IS NULL THEN outpoint_fingerprint END AS fingerprint`,
    [nextKey],
  );
  const moved = await fingerprintsOf(
    tx,
    `DELETE FROM chain.locations
     WHERE height = $1 AND key IN (SELECT key FROM chain.locations WHERE spent_height = $1)
     RETURNING CASE WHEN spent_height IS NULL THEN outpoint_fingerprint END AS fingerprint`,
    [height],
  );
  const spent = await fingerprintsOf(
    tx,
    `UPDATE chain.locations SET spent_height = NULL WHERE spent_height = $1
     RETURNING outpoint_fingerprint AS fingerprint`,
    [height],
  );
  const removed = halves(Buffer.concat([made, moved]));
  const added = halves(spent);
  return { addLow: added.low, addHigh: added.high, removeLow: removed.low, removeHigh: removed.high };
}

async function fingerprintsOf(tx: pg.ClientBase, change: string, values: unknown[]): Promise<Buffer> {
  const { rows } = await tx.query<{ fingerprints: Buffer }>(
    `WITH changed AS (${change})
     SELECT coalesce(string_agg(int8send(fingerprint), ''::bytea), ''::bytea) AS fingerprints
     FROM changed WHERE fingerprint IS NOT NULL`,
    values,
  );
  assert(rows[0] !== undefined, 'an aggregate has one row');
  return rows[0].fingerprints;
}

const fingerprintLength = 8;

function halves(bytes: Buffer): { low: Uint32Array; high: Uint32Array } {
  const count = bytes.length / fingerprintLength;
  const low = new Uint32Array(count);
  const high = new Uint32Array(count);
  for (let row = 0; row < count; row++) {
    high[row] = bytes.readUInt32BE(row * fingerprintLength);
    low[row] = bytes.readUInt32BE(row * fingerprintLength + 4);
  }
  return { low, high };
}
