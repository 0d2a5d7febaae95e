import type pg from 'pg';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { readAllTokenBalances } from '#purse/ledger/token-balances.queries.ts';
import type { TokenRune } from '#tokenpay/order/token-order.ts';
import { tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';

/** Units of an asset that an account holds, and units that are set aside for the account. */
export interface ListedBalance {
  readonly account: string;
  /** Number in service.assets. */
  readonly asset: number;
  /** Amount in base units. Negative if a reorganisation removed units that had already left the account. */
  readonly amount: bigint;
  /** The part of `amount` that open withdrawals reserve. */
  readonly reserved: bigint;
  /** Units in outputs that are set aside and were not sent away. */
  readonly aside: bigint;
}

export interface ListedBalances {
  /** Balances sorted by account and asset, BTC first. */
  readonly balances: readonly ListedBalance[];
  readonly runes: ReadonlyMap<number, TokenRune>;
}

/** Balances of one account, for operators. If `account` is null, balances of all accounts. */
export async function listTokenBalances(pool: pg.Pool, account: string | null): Promise<ListedBalances> {
  const byName = new Map<string, ListedBalance>();
  for (const held of await readAllTokenBalances(pool, account))
    byName.set(`${held.account} ${held.asset}`, { ...held, aside: 0n });
  for (const { aside, ...of } of await asideSums(pool, account)) {
    const name = `${of.account} ${of.asset}`;
    byName.set(name, { ...of, amount: 0n, reserved: 0n, ...byName.get(name), aside });
  }
  const balances = [...byName.values()].toSorted(
    (a, b) => (a.account < b.account ? -1 : Number(a.account > b.account)) || a.asset - b.asset,
  );
  const assets = balances.map(({ asset }) => asset).filter((asset) => asset !== satsAsset);
  return { balances, runes: await tokenRunesOf(pool, [...new Set(assets)]) };
}

/** Sums up the outputs that are set aside. The index of these outputs has only a few entries. */
async function asideSums(
  pool: pg.Pool,
  account: string | null,
): Promise<Pick<ListedBalance, 'account' | 'asset' | 'aside'>[]> {
  const { rows } = await pool.query<{ account: string; asset: number; aside: string }>(
    `SELECT o.account, held.asset, sum(held.amount)::text AS aside
       FROM service.token_credits AS c JOIN service.token_orders AS o ON o.id = c.order_id
       CROSS JOIN LATERAL (
         SELECT ${satsAsset} AS asset, c.sats::numeric AS amount
         UNION ALL
         SELECT r.asset, r.amount FROM service.token_credit_runes AS r WHERE r.txid = c.txid AND r.vout = c.vout) AS held
      WHERE c.aside IS NOT NULL AND ($1::text IS NULL OR o.account = $1)
        AND NOT EXISTS (SELECT FROM service.token_decisions AS d WHERE d.txid = c.txid AND d.vout = c.vout)
      GROUP BY o.account, held.asset`,
    [account],
  );
  return rows.map(({ aside, ...row }) => ({ ...row, aside: BigInt(aside) }));
}
