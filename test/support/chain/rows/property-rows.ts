import type pg from 'pg';
import { properties } from '#indexer/derived/properties/properties.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';

/** Makes the rows of properties that are a text in the details, for the keys of a range. */
export async function fillPropertyRows(
  tx: pg.ClientBase,
  range = { firstKey: 0, nextKey: 2 ** 31 - 1 },
): Promise<void> {
  await properties.fill?.(tx, range);
}

/** Makes all rows of properties on its own connection. */
export async function fillProperties(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await withTransaction(client, (tx) => fillPropertyRows(tx));
  } finally {
    client.release();
  }
}

/** Deletes the rows of inscriptions with this key or a higher one. */
export async function dropProperties(tx: pg.ClientBase, firstKey: number): Promise<void> {
  await properties.undo(tx, {
    ref: { height: genesisHeight, hash: asBlockHash(new Uint8Array(32)) },
    firstKey,
  });
}
