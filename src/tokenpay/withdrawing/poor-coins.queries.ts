import type pg from 'pg';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { isFreeOfAccounts } from '#purse/coins/coins.store.ts';
import type { AccountCoin } from './account-coins.queries.ts';

export interface WantedPoorCoins {
  /** Lower bound of the coins' value. Only coins with more sats are read. */
  readonly least: bigint;
  readonly most: bigint;
  /** Maximum block height of coins, so that they are deep enough. */
  readonly deep: number;
  /** Maximum cost of joining the coins, in sats. */
  readonly budget: bigint;
  readonly limit: number;
}

/**
 * Reads small coins that accounts hold: deep, not set aside, and not spent by a stored transaction. The first coins of
 * all owners come first, then the second coins of all owners, and so on, so that no account uses the entire budget.
 *
 * The coins of an account are omitted if its balance may depend on coins of other accounts. This is the case if its own
 * coins plus the coins without an owner, less the budget, are worth less than its balance. Withdrawals of the account
 * would otherwise have to wait for the joined coins.
 */
export async function readPoorCoins(
  client: pg.ClientBase,
  { least, most, deep, budget, limit }: WantedPoorCoins,
): Promise<AccountCoin[]> {
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
       SELECT c.txid, c.vout, c.value, p.script, p.height, c.branch, c.key_index, o.account AS owner
         FROM service.wallet_coins AS c
         LEFT JOIN service.token_orders AS o ON c.kind = 'token-order' AND o.id = c.subject
         JOIN service.payments_seen AS p ON p.txid = c.txid AND p.vout = c.vout AND p.height IS NOT NULL
        WHERE ${isFreeOfAccounts('c')}
     ), held AS (
       SELECT owner, sum(value) AS sats FROM coins GROUP BY owner
     ), short AS (
       SELECT b.account FROM service.token_balances AS b LEFT JOIN held AS h ON h.owner = b.account
        WHERE b.asset = 0
          AND b.amount > coalesce(h.sats, 0) + coalesce((SELECT sats FROM held WHERE owner IS NULL), 0) - $3::bigint
     ), ranked AS (
       SELECT *, row_number() OVER (PARTITION BY owner ORDER BY height, txid, vout) AS place
         FROM coins
        WHERE value > $5 AND value <= $1 AND height <= $2
          AND (owner IS NULL OR owner NOT IN (SELECT account FROM short)))
     SELECT txid, vout, value::text AS sats, script, branch, key_index, owner
       FROM ranked ORDER BY place, owner NULLS FIRST LIMIT $4`,
    [most, deep, budget, limit, least],
  );
  return rows.map(({ sats, branch, key_index: index, ...row }) => ({
    ...row,
    sats: BigInt(sats),
    key: { branch, index },
  }));
}
