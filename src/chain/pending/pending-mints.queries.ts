import type { ClientBase } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';

/**
 * Number of pending transactions that mint a rune, if the next block includes all of them.
 *
 * @param key key of the rune, which is ord's number
 * @param own transactions that are not counted
 */
export async function countPendingMints(
  client: ClientBase,
  key: number,
  own: readonly Txid[],
): Promise<number> {
  // step 0 means minted (see pendingSteps)
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(DISTINCT m.position)::integer AS count
       FROM chain.mempool_runes AS m JOIN chain.pending_rune_transactions AS t USING (position)
      WHERE m.rune_key = $1 AND m.step = 0 AND NOT t.txid = ANY($2)`,
    [key, own.map((txid) => Buffer.from(txid))],
  );
  return rows[0]?.count ?? 0;
}
