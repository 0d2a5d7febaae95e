import type pg from 'pg';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { HeldCoin, OwnedCoin } from './coin.ts';

/** A coin from the table of coins, with its state in blocks and stored transactions. */
export interface StoredCoin extends OwnedCoin {
  readonly aside: string | null;
  /** Height of the coin's block, or null if no block is known to have it. */
  readonly height: Height | null;
  /**
   * The first transaction that spends the coin, in display order. At most one transaction that spends it is mined. Null
   * if no transaction spends the coin.
   */
  readonly spentBy: string | null;
}

/**
 * All coins of the table, the largest first. `areSpent` selects either the coins that stored transactions spend, or all
 * other coins.
 */
export async function readStoredCoins(
  client: pg.Pool | pg.ClientBase,
  areSpent: boolean,
): Promise<StoredCoin[]> {
  const { rows } = await client.query<
    Pick<StoredCoin, 'vout' | 'kind' | 'subject' | 'held' | 'why' | 'aside' | 'height'> & {
      txid: Buffer;
      value: string;
      branch: HeldCoin['key']['branch'];
      key_index: number;
      family: Buffer | null;
    }
  >(
    `SELECT c.txid, c.vout, c.value::text AS value, c.branch, c.key_index, c.kind, c.subject, c.held, c.why, c.aside,
            p.height, s.family
       FROM service.wallet_coins AS c
       LEFT JOIN service.payments_seen AS p ON p.txid = c.txid AND p.vout = c.vout
       LEFT JOIN service.wallet_spends AS s ON s.txid = c.txid AND s.vout = c.vout AND s.ended_at IS NULL
      WHERE (s.family IS NOT NULL) = $1
      ORDER BY c.value DESC, c.txid, c.vout`,
    [areSpent],
  );
  return rows.map(({ txid, value, branch, key_index: index, family, ...row }) => ({
    ...row,
    txid: trustedTxid(txid),
    value: BigInt(value),
    key: { branch, index },
    spentBy: family === null ? null : Buffer.from(family).reverse().toString('hex'),
  }));
}
