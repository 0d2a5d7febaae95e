import type pg from 'pg';
import { unitsHeld } from '#chain/outputs/units-held.queries.ts';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { isFreeOfAccounts } from '#purse/coins/coins.store.ts';
import { runesOfAssets } from '#purse/ledger/assets.store.ts';

/** A coin in a block that is held for accounts. */
export interface AccountCoin {
  readonly txid: Txid;
  readonly vout: number;
  readonly sats: bigint;
  readonly script: Uint8Array;
  readonly key: WalletKey;
  /** The account to which the coin was credited, or null if the coin is change of a batch. */
  readonly owner: string | null;
}

/** A filter for coins that belong to certain accounts, and for coins without an owner. */
export interface WantedCoins {
  readonly accounts: readonly string[];
  /** Maximum number of coins per owner. The largest coins are read first. */
  readonly limit: number;
  /**
   * The wanted rune. Credited coins are read only if they hold the rune. Of the other coins, those with the rune come
   * first. Null means all coins, because the sats of coins with runes can also be spent.
   */
  readonly asset: number | null;
}

const unitsLeft = unitsHeld(
  { txid: 'c.txid', vout: 'c.vout' },
  { etching: '$4::bytea', name: '$5::numeric' },
);

/**
 * Reads coins that withdrawals of these accounts may spend. A coin is either credited to one of the accounts or change
 * of a batch. It is in a block, not set aside, and not spent by a stored transaction. The largest coins come first, by
 * units of the asset, or by sats.
 */
export async function readAccountCoins(
  client: pg.Pool | pg.ClientBase,
  { accounts, limit, asset }: WantedCoins,
): Promise<AccountCoin[]> {
  // Change of batches with runes has only few sats. If coins were sorted only by sats, such change might not be among
  // the first `limit` coins. The index is read only if there are more coins than `limit`.
  const [rune] = asset === null ? [] : await runesOfAssets(client, [asset]);
  const { rows } = await client.query<{
    txid: Txid;
    vout: number;
    sats: string;
    script: Buffer;
    branch: WalletKey['branch'];
    key_index: number;
    owner: string | null;
  }>(
    `WITH coins AS (
       SELECT c.txid, c.vout, c.value, p.script, c.branch, c.key_index, c.account AS owner,
              CASE WHEN c.account IS NOT NULL
                   THEN (SELECT sum(r.amount) FROM service.token_credit_runes AS r
                          WHERE r.txid = c.txid AND r.vout = c.vout AND r.asset = $3)
                   WHEN count(*) OVER (PARTITION BY c.account) > $2 THEN ${unitsLeft}
              END AS units
         FROM (SELECT c.*, o.account
                 FROM service.token_orders AS o JOIN service.wallet_coins AS c ON c.subject = o.id AND c.kind = 'token-order'
                WHERE o.account = ANY($1::text[])
               UNION ALL
               SELECT c.*, NULL FROM service.wallet_coins AS c WHERE c.kind = 'payout') AS c
         JOIN service.payments_seen AS p ON p.txid = c.txid AND p.vout = c.vout AND p.height IS NOT NULL
        WHERE ${isFreeOfAccounts('c')}
     ), ranked AS (
       SELECT *, row_number() OVER (PARTITION BY owner ORDER BY units DESC NULLS LAST, value DESC, txid, vout) AS place
         FROM coins
        WHERE owner IS NULL OR $3::integer IS NULL OR units IS NOT NULL)
     SELECT txid, vout, value::text AS sats, script, branch, key_index, owner
       FROM ranked WHERE place <= $2 ORDER BY owner NULLS LAST, place`,
    [
      accounts,
      limit,
      asset,
      rune === undefined ? null : Buffer.from(rune.etching),
      rune === undefined ? null : String(rune.rune),
    ],
  );
  return rows.map(({ sats, branch, key_index: index, ...row }) => ({
    ...row,
    sats: BigInt(sats),
    key: { branch, index },
  }));
}
