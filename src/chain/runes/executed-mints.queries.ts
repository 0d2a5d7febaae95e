import type { ClientBase } from 'pg';
import { displayHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** A transaction, and the block that contains it. */
interface MinedTransaction {
  readonly txid: Txid;
  readonly height: Height;
}

/**
 * Selects the transactions that minted units of a rune into their first output, by their txids in display order. All
 * other transactions named the rune when no mint was left, or outside the time in which mints are allowed.
 *
 * @param key key of the rune, which is ord's number
 */
export async function executedMints(
  client: ClientBase,
  key: number,
  mined: readonly MinedTransaction[],
): Promise<ReadonlySet<string>> {
  if (mined.length === 0) return new Set();
  const { rows } = await client.query<{ txid: Buffer }>(
    `SELECT b.txid FROM chain.rune_balances AS b
       JOIN chain.rune_mints AS m ON m.height = b.height AND m.rune_key = b.rune_key AND b.tx_index = ANY(m.tx_indexes)
      WHERE b.rune_key = $1 AND b.vout = 0 AND b.height = ANY($2) AND b.txid = ANY($3)`,
    [key, [...new Set(mined.map(({ height }) => height))], mined.map(({ txid }) => Buffer.from(txid))],
  );
  return new Set(rows.map(({ txid }) => displayHash(trustedTxid(txid))));
}
