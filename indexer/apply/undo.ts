import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';

/** First ids that are free again once blocks were taken back. */
export interface FreeIds {
  readonly nextKey: number;
  readonly nextContentId: number;
  readonly nextMetadataId: number;
}

/** Takes back what another room derived from rows with such ids or above, in the transaction that deletes the rows. */
export type UndoHook = (client: pg.ClientBase, free: FreeIds) => Promise<void>;

interface TipRow {
  height: number;
  hash: Buffer;
  next_key: number;
  next_content_id: number;
  next_metadata_id: number;
}

/**
 * Takes back all blocks above a height (-1: all there are), in one transaction, whatever their number: rows of new
 * ids are deleted by their ranges, rows of old inscriptions by what the blocks moved, and what was spent above is
 * unspent again. Counters need nothing: they stand in the rows of blocks. Gives the tip that is left.
 */
export function undoAbove(
  client: pg.ClientBase,
  height: number,
  hooks: readonly UndoHook[],
): Promise<BlockRef | null> {
  return withTransaction(client, async (tx) => {
    const { rows } = await tx.query<TipRow>(
      `SELECT height, hash, next_key, next_content_id, next_metadata_id FROM chain.blocks
       WHERE height <= $1 ORDER BY height DESC LIMIT 1`,
      [height],
    );
    const tip = rows[0] ?? null;
    const free = freeIdsAfter(tip);
    await deleteFrom(tx, free);
    await takeBackMoves(tx, height);
    await tx.query('DELETE FROM chain.blocks WHERE height > $1', [height]);
    await tx.query(
      'UPDATE chain.state SET tip_height = $1, tip_hash = $2, undo_epoch = undo_epoch + 1 WHERE one',
      tip === null ? [null, null] : [tip.height, tip.hash],
    );
    for (const hook of hooks) await hook(tx, free);
    return tip === null ? null : { height: tip.height, hash: Uint8Array.from(tip.hash) };
  });
}

function freeIdsAfter(tip: TipRow | null): FreeIds {
  if (tip === null) return { nextKey: 0, nextContentId: 0, nextMetadataId: 0 };
  return {
    nextKey: tip.next_key,
    nextContentId: tip.next_content_id,
    nextMetadataId: tip.next_metadata_id,
  };
}

async function deleteFrom(tx: pg.ClientBase, free: FreeIds): Promise<void> {
  for (const [table, column, id] of [
    ['chain.locations', 'key', free.nextKey],
    ['chain.parents', 'child_key', free.nextKey],
    ['chain.inscription_details', 'key', free.nextKey],
    ['chain.inscriptions', 'key', free.nextKey],
    ['chain.contents', 'content_id', free.nextContentId],
    ['chain.metadata_texts', 'metadata_id', free.nextMetadataId],
  ] as const) {
    await tx.query(`DELETE FROM ${table} WHERE ${column} >= $1`, [id]);
  }
}

/** An inscription that moved above the height left a row that was spent there: no scan of all locations is needed. */
async function takeBackMoves(tx: pg.ClientBase, height: number): Promise<void> {
  await tx.query(
    `DELETE FROM chain.locations
     WHERE height > $1 AND key IN (SELECT key FROM chain.locations WHERE spent_height > $1)`,
    [height],
  );
  await tx.query('UPDATE chain.locations SET spent_height = NULL WHERE spent_height > $1', [height]);
}
