import type { ClientBase } from 'pg';
import { genesisHeight, type Height, maxHeight } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** The internal key of an inscription. `null` if the inscription is not indexed. */
export async function keyOfInscription(
  client: ClientBase,
  { txid, index }: InscriptionId,
): Promise<InscriptionKey | null> {
  const { rows } = await client.query<{ key: InscriptionKey }>(
    'SELECT key FROM chain.inscriptions WHERE txid = $1 AND index = $2',
    [Buffer.from(txid), index],
  );
  return rows[0]?.key ?? null;
}

/** A range of heights. Both ends are included. An absent end has no limit. */
export interface HeightRange {
  readonly from?: Height | undefined;
  readonly to?: Height | undefined;
}

/**
 * The keys of a range of blocks. Keys ascend with heights. `first` is the first key of the first block, or `null` if no
 * block is that high. `end` is one more than the last key of the last block, or `null` if no block is that low. The
 * range is empty if `first` is not below `end`.
 */
export async function keysOfHeights(
  client: ClientBase,
  { from = genesisHeight, to = maxHeight }: HeightRange,
): Promise<{ readonly first: number | null; readonly end: number | null }> {
  const { rows } = await client.query<{ first: number | null; end: number | null }>(
    `SELECT (SELECT first_key FROM chain.blocks WHERE height >= $1 ORDER BY height LIMIT 1) AS first,
            (SELECT next_key FROM chain.blocks WHERE height <= $2 ORDER BY height DESC LIMIT 1) AS end`,
    [from, to],
  );
  return rows[0] ?? { first: null, end: null };
}
