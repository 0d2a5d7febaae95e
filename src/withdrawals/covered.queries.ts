import type pg from 'pg';
import { satsOfAccounts } from '#purse/coins/coins.store.ts';
import { owedToAccounts } from '#tokenpay/withdrawing/owed.queries.ts';

/**
 * Sats that are missing in coins of accounts to cover accounts and open orders of shops. If it is 0n or less,
 * everything is covered. The coins also contain base fees of completed orders. These fees cover debts of accounts and
 * payments by the operator.
 */
export async function lackingSats(tx: pg.ClientBase): Promise<bigint> {
  return (await owedToAccounts(tx)) - (await satsOfAccounts(tx));
}
