import type { ClientBase, Pool } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { asU128 } from '#kernel/runes/u128.ts';

/**
 * Ids of the runes with these etchings and names, in the order of the request. `null` if no block has the etching now.
 */
export async function runeIdsOf(
  client: Pool | ClientBase,
  runes: readonly { readonly etching: Txid; readonly rune: Rune }[],
): Promise<(RuneId | null)[]> {
  if (runes.length === 0) return [];
  const { rows } = await client.query<{ height: number | null; tx: number | null }>(
    `SELECT r.height, r.tx_index AS tx
       FROM unnest($1::bytea[], $2::numeric[]) WITH ORDINALITY AS a (etching, rune, place)
       LEFT JOIN chain.runes AS r ON r.txid = a.etching AND r.rune = a.rune ORDER BY a.place`,
    [runes.map(({ etching }) => Buffer.from(etching)), runes.map(({ rune }) => String(rune))],
  );
  return rows.map(({ height, tx }) =>
    height === null || tx === null ? null : { block: asU128(height), tx },
  );
}
