import { createHash } from 'node:crypto';
import type pg from 'pg';
import { inscriptionKind } from '#kernel/events/event-kind.ts';
import { awaitFlushed } from '#kernel/pg/await-flushed.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { type BlockHash, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Marker } from '#search/elastic/server/marker.ts';
import { mappingVersion } from '#search/elastic/server/search-index.ts';
import type { AppliedBlock, ChainPosition } from './sync-plan.ts';

/**
 * The kind of events from which the documents are made. Each row of the outbox stands for the events of all kinds of
 * its block. A row is processed once the inscriptions of its block are.
 */
export const syncedKind = inscriptionKind;

/**
 * Maximum number of rows (80 bytes each) read at once: more than one step takes if blocks are full. A chain of empty
 * blocks takes a hundred steps.
 */
const appliedMax = 10_000;

/** SQL that begins a transaction in which all compared values belong to one moment. */
export const readOnlyMoment = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

interface BlockRow {
  sequence: number;
  height: Height;
  hash: BlockHash;
}

interface AppliedRow extends BlockRow {
  next_key: number;
}

interface EndsRow {
  network: string;
  fingerprint_key: Buffer;
  undo_epoch: number;
  last: number | null;
  undos: number[];
  undone_at: number | null;
}

/**
 * The position of the chain, as far as a marker needs it. Null: no block was ever indexed. The position survives a
 * crash of the server, because a marker must never cover rows that could get other numbers.
 */
export async function readPosition(client: pg.ClientBase, marker: Marker): Promise<ChainPosition | null> {
  const position = await withTransaction(client, (tx) => positionIn(tx, marker.sequence), readOnlyMoment);
  if (position !== null && position.lastSequence > marker.sequence) await awaitFlushed(client);
  return position;
}

async function positionIn(tx: pg.ClientBase, at: number): Promise<ChainPosition | null> {
  // finds a row above the marker that takes back a block of the marker
  const ends = await tx.query<EndsRow>(
    `SELECT network, fingerprint_key, undo_epoch, (SELECT max(sequence) FROM chain.outbox) AS last,
       ARRAY(SELECT sequence FROM chain.outbox WHERE cancels IS NOT NULL AND sequence > $1 ORDER BY sequence) AS undos,
       (SELECT max(sequence) FROM chain.outbox WHERE cancels <= $1 AND sequence > $1) AS undone_at
     FROM chain.state`,
    [at],
  );
  const [row] = ends.rows;
  if (row === undefined) return null;
  const applied = await readApplied(tx, 'o.sequence > $1 ORDER BY o.sequence LIMIT $2', [at, appliedMax + 1]);
  const [left] =
    row.undone_at === null
      ? []
      : await readApplied(tx, 'o.sequence <= $1 ORDER BY o.sequence DESC LIMIT 1', [at]);
  return {
    database: databaseIdentity(row.network, row.fingerprint_key),
    undoEpoch: row.undo_epoch,
    lastSequence: row.last ?? 0,
    tipAtMarker: await readTipAt(tx, at),
    undoSequences: row.undos,
    undoneAt: row.undone_at,
    left: left ?? null,
    applied: applied.slice(0, appliedMax),
    isAll: applied.length <= appliedMax,
  };
}

/**
 * Identifies the database and the version of the documents. Another database of the same chain has its own outbox, and
 * an index of older documents is just as foreign.
 */
function databaseIdentity(network: string, fingerprintKey: Buffer): string {
  // the key itself stays secret: with it, anyone could make collisions of fingerprints
  const digest = createHash('sha256').update('satscribe search').update(fingerprintKey).digest('hex');
  return `${network}-v${mappingVersion}-${digest.slice(0, 32)}`;
}

/** The identity of a database in markers. Null: no block was ever indexed. */
export async function readDatabaseIdentity(client: pg.ClientBase | pg.Pool): Promise<string | null> {
  const { rows } = await client.query<{ network: string; fingerprint_key: Buffer }>(
    'SELECT network, fingerprint_key FROM chain.state',
  );
  return rows[0] === undefined ? null : databaseIdentity(rows[0].network, rows[0].fingerprint_key);
}

/**
 * The last block at the time when a row of the outbox was the newest: applied up to that row, and not taken back up to
 * it.
 */
async function readTipAt(tx: pg.ClientBase, at: number): Promise<Marker['tip']> {
  const { rows } = await tx.query<BlockRow>(
    `SELECT o.sequence, o.height, o.block_hash AS hash FROM chain.outbox AS o
      WHERE o.sequence <= $1 AND o.cancels IS NULL AND o.reclassified IS NULL
        AND NOT EXISTS (SELECT FROM chain.outbox AS u WHERE u.cancels = o.sequence AND u.sequence <= $1)
      ORDER BY o.sequence DESC LIMIT 1`,
    [at],
  );
  return rows[0] === undefined ? null : tipOf(rows[0]);
}

/**
 * Applied blocks of some rows. A row is used if its block is in the chain and no later row takes the block back,
 * because a block that was applied, undone and applied again has several rows.
 */
async function readApplied(tx: pg.ClientBase, which: string, values: unknown[]): Promise<AppliedBlock[]> {
  const { rows } = await tx.query<AppliedRow>(
    `SELECT o.sequence, o.height, o.block_hash AS hash, b.next_key
       FROM chain.outbox AS o
       JOIN chain.blocks AS b ON b.height = o.height AND b.hash = o.block_hash
      WHERE o.cancels IS NULL AND o.reclassified IS NULL
        AND NOT EXISTS (SELECT FROM chain.outbox AS u WHERE u.cancels = o.sequence) AND ${which}`,
    values,
  );
  return rows.map((row) => ({ sequence: row.sequence, tip: tipOf(row), nextKey: row.next_key }));
}

/** Whether a block is in the chain that the transaction sees, with the same keys up to it. */
export async function isThere(tx: pg.ClientBase, { tip, nextKey }: Marker): Promise<boolean> {
  if (tip === null) return true;
  const { rowCount } = await tx.query(
    'SELECT FROM chain.blocks WHERE height = $1 AND hash = $2 AND next_key = $3',
    [tip.height, Buffer.from(tip.hash, 'hex').reverse(), nextKey],
  );
  return rowCount === 1;
}

/**
 * Number of inscriptions in a range of keys that searches can find: inscriptions with a content, metadata or
 * properties.
 */
export async function countFindable(tx: pg.ClientBase, from: number, to: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM chain.inscriptions AS i
      WHERE i.key >= $1 AND i.key < $2
        AND (i.content_id IS NOT NULL OR i.metadata_id IS NOT NULL
          OR EXISTS (SELECT FROM chain.properties AS p WHERE p.key = i.key)
          OR EXISTS (SELECT FROM chain.inscription_details AS d WHERE d.key = i.key AND d.properties_json IS NOT NULL))`,
    [from, to],
  );
  return rows[0]?.count ?? 0;
}

/**
 * The last block that a marker covers: applied up to a row of the outbox, still in the chain, and without keys from
 * `endKey` on. The sequence is that of the block's own row, or 0 before the first block.
 */
export async function readBlockUpTo(
  client: pg.ClientBase,
  endKey: number,
  sequence: number,
): Promise<Pick<Marker, 'epoch' | 'sequence' | 'tip' | 'nextKey'>> {
  const [block] = await readApplied(
    client,
    'o.sequence <= $1 AND b.next_key <= $2 ORDER BY o.sequence DESC LIMIT 1',
    [sequence, endKey],
  );
  const { rows } = await client.query<{ epoch: number }>(
    `SELECT undo_epoch - (SELECT count(*) FROM chain.outbox WHERE cancels IS NOT NULL AND sequence > $1) AS epoch
       FROM chain.state`,
    [block?.sequence ?? 0],
  );
  const epoch = rows[0]?.epoch ?? 0;
  return { epoch, sequence: block?.sequence ?? 0, tip: block?.tip ?? null, nextKey: block?.nextKey ?? 0 };
}

function tipOf({ height, hash }: BlockRow): NonNullable<Marker['tip']> {
  return { height, hash: displayHash(hash) };
}
