import type pg from 'pg';

/** Units of an asset that an account holds. */
export interface TokenBalance {
  /** The number in service.assets. */
  readonly asset: number;
  /** Amount in base units. Negative if a reorganisation took back units that had already left the account. */
  readonly amount: bigint;
  /** The part of `amount` that open withdrawals reserve. The rest is available. */
  readonly reserved: bigint;
}

/** A balance with its account. */
export interface AccountBalance extends TokenBalance {
  readonly account: string;
}

/**
 * Balances of one account, or of all accounts if `account` is null, sorted by account and asset. Omits balances without
 * held and reserved units.
 */
export async function readAllTokenBalances(
  client: pg.Pool | pg.ClientBase,
  account: string | null,
): Promise<AccountBalance[]> {
  const { rows } = await client.query<{ account: string; asset: number; amount: string; reserved: string }>(
    `SELECT account, asset, amount::text AS amount, reserved::text AS reserved FROM service.token_balances
      WHERE (amount <> 0 OR reserved <> 0) AND ($1::text IS NULL OR account = $1) ORDER BY account, asset`,
    [account],
  );
  return rows.map(({ amount, reserved, ...row }) => ({
    ...row,
    amount: BigInt(amount),
    reserved: BigInt(reserved),
  }));
}

/** The balances of an account, by asset. Omits assets without held and reserved units. */
export async function readTokenBalances(
  client: pg.Pool | pg.ClientBase,
  account: string,
): Promise<TokenBalance[]> {
  return readAllTokenBalances(client, account);
}

/**
 * Number of shop accounts with a negative balance. A balance becomes negative if a reorganisation takes back units that
 * had already left the account.
 */
export async function countAccountsBelowZero(client: pg.Pool | pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(DISTINCT account)::integer AS count FROM service.token_balances WHERE amount < 0',
  );
  return rows[0]?.count ?? 0;
}
