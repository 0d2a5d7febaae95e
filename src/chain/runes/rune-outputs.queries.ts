import type { ClientBase } from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import type { Txid } from '#kernel/primitives/hash.ts';

/** An unspent output of a script, and the units of one rune in it. */
export interface RuneOutput extends Outpoint {
  readonly amount: bigint;
}

/**
 * Unspent outputs of a script with a rune. Outputs with the most units come first. Throws `index_missing` during a
 * first sync.
 *
 * @param key key of the rune, which is ord's number
 */
export async function outputsWithRune(
  client: ClientBase,
  script: Uint8Array,
  key: number,
  limit: number,
): Promise<RuneOutput[]> {
  await requireIndexes(client, ['rune_balances_holder'], 'holders of runes');
  const { rows } = await client.query<{ txid: Txid; vout: number; amount: string }>(
    `SELECT txid, vout, amount::text FROM chain.rune_balances
      WHERE rune_key = $1 AND script = $2 AND spent_height IS NULL ORDER BY amount DESC, txid, vout LIMIT $3`,
    [key, Buffer.from(script), limit],
  );
  return rows.map(({ amount, ...row }) => ({ ...row, amount: BigInt(amount) }));
}
