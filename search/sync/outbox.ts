import { createHash } from 'node:crypto';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NextIds, SearchMarker } from './marker.ts';
import type { OutboxRow } from './outbox-row.ts';
import type { AppliedBlock, ChainPosition } from './plan.ts';

/** Rows of 80 bytes: more than a step takes on a chain of full blocks, and all of a chain of empty ones in a hundred steps. */
const appliedMax = 10_000;

interface StoredRow {
  sequence: number;
  height: number;
  block_hash: Buffer;
  cancels: number | null;
}

interface AppliedRow extends StoredRow {
  next_key: number;
  next_content_id: number;
  next_metadata_id: number;
}

/** One moment for all that is compared with each other. */
export const readOnlyMoment = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Which database this is; null: nothing was ever indexed into it. Another one of the same chain is another one. */
export async function chainIdentity(client: pg.ClientBase | pg.Pool): Promise<string | null> {
  const { rows } = await client.query<{ network: string; fingerprint_key: Buffer }>(
    'SELECT network, fingerprint_key FROM chain.state',
  );
  const [row] = rows;
  if (row === undefined) return null;
  // the key stays here: whoever knew it could aim collisions at fingerprints
  const digest = createHash('sha256').update('satscribe search').update(row.fingerprint_key).digest('hex');
  return `${row.network}-${digest.slice(0, 32)}`;
}

/** Where the chain stands, as far as a marker needs it; null: nothing was ever indexed. */
export function readPosition(pool: pg.Pool, marker: SearchMarker): Promise<ChainPosition | null> {
  return withTransaction(pool, (tx) => positionIn(tx, marker), readOnlyMoment);
}

async function positionIn(tx: pg.ClientBase, { row }: SearchMarker): Promise<ChainPosition | null> {
  const chain = await chainIdentity(tx);
  if (chain === null) return null;
  const at = row?.sequence ?? 0;
  const ends = await tx.query<StoredRow>(
    `(SELECT sequence, height, block_hash, cancels FROM chain.outbox ORDER BY sequence DESC LIMIT 1)
      UNION ALL SELECT sequence, height, block_hash, cancels FROM chain.outbox WHERE sequence = $1`,
    [at],
  );
  const { undoEpoch, undoSequences } = await readUndos(tx, at);
  const undone = await readUndone(tx, at);
  const applied = await readApplied(tx, at);
  const [last] = ends.rows;
  const atMarker = ends.rows.find(({ sequence }) => sequence === at);
  return {
    chain,
    undoEpoch,
    last: last === undefined ? null : rowOf(last),
    atMarker: atMarker === undefined ? null : rowOf(atMarker),
    undoSequences,
    undone,
    left: undone === null ? null : await readLeft(tx, at),
    applied: applied.slice(0, appliedMax),
    isAll: applied.length <= appliedMax,
  };
}

/** A reorganisation has a few rows that take blocks back; a chain has had some hundreds. */
async function readUndos(
  tx: pg.ClientBase,
  at: number,
): Promise<{ undoEpoch: number; undoSequences: number[] }> {
  const { rows } = await tx.query<{ undo_epoch: number; undos: number[] }>(
    `SELECT undo_epoch, ARRAY(
       SELECT sequence FROM chain.outbox WHERE cancels IS NOT NULL AND sequence > $1 ORDER BY sequence) AS undos
     FROM chain.state`,
    [at],
  );
  return { undoEpoch: rows[0]?.undo_epoch ?? 0, undoSequences: rows[0]?.undos ?? [] };
}

async function readUndone(tx: pg.ClientBase, at: number): Promise<OutboxRow | null> {
  const { rows } = await tx.query<StoredRow>(
    `SELECT sequence, height, block_hash, cancels FROM chain.outbox
      WHERE cancels <= $1 AND sequence > $1 ORDER BY sequence DESC LIMIT 1`,
    [at],
  );
  return rows[0] === undefined ? null : rowOf(rows[0]);
}

// A row counts where its block is there and nobody took it back: a block that came, went and came again has several rows.
const appliedRows = `
  SELECT o.sequence, o.height, o.block_hash, o.cancels, b.next_key, b.next_content_id, b.next_metadata_id
    FROM chain.outbox AS o
    JOIN chain.blocks AS b ON b.height = o.height AND b.hash = o.block_hash
   WHERE o.cancels IS NULL AND NOT EXISTS (SELECT FROM chain.outbox AS u WHERE u.cancels = o.sequence)`;

async function readLeft(tx: pg.ClientBase, at: number): Promise<AppliedBlock | null> {
  const { rows } = await tx.query<AppliedRow>(
    `${appliedRows} AND o.sequence <= $1 ORDER BY o.sequence DESC LIMIT 1`,
    [at],
  );
  return rows[0] === undefined ? null : appliedOf(rows[0]);
}

async function readApplied(tx: pg.ClientBase, at: number): Promise<AppliedBlock[]> {
  const { rows } = await tx.query<AppliedRow>(
    `${appliedRows} AND o.sequence > $1 ORDER BY o.sequence LIMIT $2`,
    [at, appliedMax + 1],
  );
  return rows.map(appliedOf);
}

/** Whether a block is still in the chain, with the same ids before and below it. */
export async function isThere(tx: pg.ClientBase, marker: SearchMarker): Promise<boolean> {
  const { tip, next } = marker;
  if (tip === null) return true;
  const { rowCount } = await tx.query(
    `SELECT FROM chain.blocks WHERE height = $1 AND hash = $2
       AND next_key = $3 AND next_content_id = $4 AND next_metadata_id = $5`,
    [tip.height, Buffer.from(tip.hash), next.key, next.contentId, next.metadataId],
  );
  return rowCount === 1;
}

function rowOf({ sequence, height, block_hash: hash, cancels }: StoredRow): OutboxRow {
  return { sequence, height, hash, cancels };
}

function appliedOf(row: AppliedRow): AppliedBlock {
  const next: NextIds = {
    key: row.next_key,
    contentId: row.next_content_id,
    metadataId: row.next_metadata_id,
  };
  return { row: rowOf(row), next };
}
