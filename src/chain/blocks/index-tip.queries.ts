import type { ClientBase, Pool } from 'pg';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** SQL: the height of the last block of the index; null while it is empty. */
export const indexTipHeight = '(SELECT tip_height FROM chain.state)';

/** SQL: the hash of the last block of the index, in internal order; null while it is empty. */
export const indexTipHash = '(SELECT tip_hash FROM chain.state)';

/**
 * SQL: the time in the header of the block at a height. `height` is an SQL expression. SQL NULL if the index has no
 * such block.
 */
export const timeOfBlock = (height: string): string =>
  `(SELECT to_timestamp(time) FROM chain.blocks WHERE height = ${height})`;

/** The height of the last block of the index; null while it is empty. */
export async function indexedTip(client: Pool | ClientBase): Promise<Height | null> {
  const { rows } = await client.query<{ tip: Height | null }>(`SELECT ${indexTipHeight} AS tip`);
  return rows[0]?.tip ?? null;
}

/**
 * Microseconds from the set-up of the index until it first reached the tip of its source, including pauses. 0 until
 * then, and for an index that is older than this measurement.
 */
export async function initialSyncMicroseconds(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ micros: number }>(
    `SELECT greatest(coalesce(extract(epoch FROM caught_up_at - set_up_at) * 1000000, 0), 0)::bigint AS micros
     FROM chain.state`,
  );
  return rows[0]?.micros ?? 0;
}

/** Whether the index has this block. A hash of `null`, as in an empty index, is never found. */
export async function isBlockIndexed(
  client: ClientBase,
  height: Height | null,
  hash: Uint8Array | null,
): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM chain.blocks WHERE height = $1 AND hash = $2', [
    height,
    hash,
  ]);
  return rowCount !== 0;
}

/** The network of the index; null before the first start of an indexer. */
export async function indexedNetwork(client: Pool | ClientBase): Promise<NetworkName | null> {
  const { rows } = await client.query<{ network: NetworkName }>('SELECT network FROM chain.state');
  return rows[0]?.network ?? null;
}
