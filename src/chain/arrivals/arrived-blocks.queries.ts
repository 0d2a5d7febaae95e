import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import { timeOfBlock } from '#chain/blocks/index-tip.queries.ts';
import { lastSequenceSql } from '#chain/events/events.queries.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** A change of the chain: one row of the outbox, as far as the moment of a snapshot needs it. */
export interface ChainChange {
  readonly sequence: number;
  readonly height: Height;
  readonly hash: BlockHash;
  /** Whether the row takes the block back. */
  readonly isUndo: boolean;
  /** Whether the block is in the chain now. */
  readonly isInChain: boolean;
  /**
   * Keys of the inscriptions that the block reveals: from `first` to below `next`. 0 for blocks that are not in the
   * chain.
   */
  readonly first: number;
  readonly next: number;
}

/** A block by its height and hash. */
export type BlockPlace = Pick<ChainChange, 'height' | 'hash'>;

/** Maximum number of rows of the outbox that are read at once. */
const changesMax = 100;

/**
 * Changes of the chain after a row of the outbox, in their order. Rows that only classify events again are left out.
 */
export async function readChainChanges(client: ClientBase, after: number): Promise<ChainChange[]> {
  const { rows } = await client.query<ChainChange>(
    `SELECT o.sequence, o.height, o.block_hash AS hash, o.cancels IS NOT NULL AS "isUndo",
            b.height IS NOT NULL AS "isInChain", coalesce(b.first_key, 0) AS first, coalesce(b.next_key, 0) AS next
       FROM chain.outbox AS o
       LEFT JOIN chain.blocks AS b ON b.height = o.height AND b.hash = o.block_hash
      WHERE o.sequence > $1 AND o.reclassified IS NULL ORDER BY o.sequence LIMIT ${changesMax}`,
    [after],
  );
  return rows;
}

/** The identity of an index and the last row of its outbox. */
export interface IndexPosition {
  /** Differs between two indexes, even of the same chain, because their outboxes have other rows. */
  readonly identity: string;
  readonly lastSequence: number;
  /** Height of the last block. -1: the index is empty. */
  readonly height: number;
  /**
   * Whether the index is in its first sync, and its last block is old. Its new blocks are then old, too. At the end of
   * the first sync, the index has recent blocks some moments before it knows that it has all of them.
   */
  readonly isCatchingUp: boolean;
}

/**
 * How old a block may be that still counts as recent, in hours. The time in a header may be two hours wrong, and the
 * next block may take an hour.
 */
const recentHours = 3;

/** The position of the index. Null: no block was ever indexed. */
export async function readIndexPosition(client: ClientBase): Promise<IndexPosition | null> {
  const { rows } = await client.query<{
    network: string;
    fingerprint_key: Buffer;
    last: number;
    height: number | null;
    is_catching_up: boolean;
  }>(
    `SELECT network, fingerprint_key, ${lastSequenceSql} AS last, tip_height AS height,
            caught_up_at IS NULL AND set_up_at IS NOT NULL
              AND coalesce(${timeOfBlock('tip_height')} < now() - interval '${recentHours} hours', true) AS is_catching_up
       FROM chain.state`,
  );
  const [row] = rows;
  if (row === undefined) return null;
  // the key itself stays secret, because with the key anyone could make collisions of fingerprints
  const digest = createHash('sha256').update('satscribe watches').update(row.fingerprint_key).digest('hex');
  return {
    identity: `${row.network}-${digest.slice(0, 32)}`,
    lastSequence: row.last,
    height: row.height ?? -1,
    isCatchingUp: row.is_catching_up,
  };
}

/**
 * The sequence of the row before the row that applied the lowest block at or above a height. The last sequence, if no
 * block is that high.
 */
export async function readSequenceBefore(client: ClientBase, height: number): Promise<number> {
  const { rows } = await client.query<{ before: number }>(
    `SELECT coalesce(
       (SELECT min(o.sequence) - 1 FROM chain.outbox AS o
         WHERE o.cancels IS NULL AND o.reclassified IS NULL
           AND (o.height, o.block_hash) = (SELECT height, hash FROM chain.blocks WHERE height >= $1 ORDER BY height LIMIT 1)
           AND NOT EXISTS (SELECT FROM chain.outbox AS u WHERE u.cancels = o.sequence)), ${lastSequenceSql}) AS before`,
    [height],
  );
  return rows[0]?.before ?? 0;
}

/**
 * SQL: the number of changes of the chain after a row of the outbox. Rows about rebuilt derived tables change no block.
 *
 * @param sequence SQL of the sequence of the row
 */
export const changesAfterSql = (sequence: string): string =>
  `(SELECT count(*) FROM chain.outbox WHERE sequence > ${sequence} AND reclassified IS NULL)`;

/** The height of the chain after a row of the outbox. -1, if there is no such row. */
export async function readHeightAfter(client: ClientBase, sequence: number): Promise<number> {
  const { rows } = await client.query<{ height: number }>(
    `SELECT CASE WHEN cancels IS NULL THEN height ELSE height - 1 END AS height FROM chain.outbox
      WHERE sequence <= $1 AND reclassified IS NULL ORDER BY sequence DESC LIMIT 1`,
    [sequence],
  );
  return rows[0]?.height ?? -1;
}

/** The blocks of a list that are not in the chain. Blocks below the first block of the index are left out. */
export async function readAbsentBlocks(
  client: ClientBase,
  blocks: readonly BlockPlace[],
): Promise<BlockPlace[]> {
  if (blocks.length === 0) return [];
  const { rows } = await client.query<BlockPlace>(
    `SELECT given.height, given.hash FROM unnest($1::integer[], $2::bytea[]) AS given (height, hash)
      WHERE NOT EXISTS (SELECT FROM chain.blocks AS b WHERE b.height = given.height AND b.hash = given.hash)
        AND given.height >= (SELECT min(height) FROM chain.blocks)`,
    [blocks.map(({ height }) => height), blocks.map(({ hash }) => hash)],
  );
  return rows;
}

/** Blocks of the chain from a height up to another height, lowest first, with the rows that applied them. */
export async function readBlocksAgain(
  client: ClientBase,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ChainChange[]> {
  const { rows } = await client.query<ChainChange>(
    `SELECT o.sequence, b.height, b.hash, false AS "isUndo", true AS "isInChain", b.first_key AS first, b.next_key AS next
       FROM chain.blocks AS b
       CROSS JOIN LATERAL (
         SELECT max(sequence) AS sequence FROM chain.outbox
          WHERE height = b.height AND block_hash = b.hash AND cancels IS NULL AND reclassified IS NULL) AS o
      WHERE b.height BETWEEN $1 AND $2 AND o.sequence IS NOT NULL ORDER BY b.height LIMIT ${changesMax}`,
    [from, to],
  );
  return rows;
}
