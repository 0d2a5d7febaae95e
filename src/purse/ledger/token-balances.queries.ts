import type pg from 'pg';

/** Units of an asset that an account holds. */
export interface TokenBalance {
  /** Its number in service.assets. */
  readonly asset: number;
  /** In base units; below 0: a reorganisation took back what had left the account. */
  readonly amount: bigint;
}

/** The balances of an account, by asset; assets of which it holds nothing are left out. */
export async function readTokenBalances(
  client: pg.Pool | pg.ClientBase,
  account: string,
): Promise<TokenBalance[]> {
  const { rows } = await client.query<{ asset: number; amount: string }>(
    `SELECT asset, amount::text AS amount FROM service.token_balances
      WHERE account = $1 AND amount <> 0 ORDER BY asset`,
    [account],
  );
  return rows.map(({ asset, amount }) => ({ asset, amount: BigInt(amount) }));
}
