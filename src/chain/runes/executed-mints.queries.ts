import type { ClientBase } from 'pg';
import { displayHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** A transaction, and the block that has it. */
interface MinedTransaction {
  readonly txid: Txid;
  readonly height: Height;
}

/**
 * Given transactions that minted a rune for their first output, by their shown txids. All others named the rune when no
 * mint was left, or before or after its time.
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
