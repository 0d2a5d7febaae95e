import type pg from 'pg';
import { satsOfAccounts } from '#purse/coins/coins.store.ts';
import { owedToAccounts } from '#tokenpay/withdrawing/owed.queries.ts';

/**
 * Sats that coins of accounts lack of what accounts and open orders of shops have: 0n or less where all is covered. Debts of
 * accounts and what the operator paid are covered by base fees of completed orders, which are in these coins.
 */
export async function lackingSats(tx: pg.ClientBase): Promise<bigint> {
  return (await owedToAccounts(tx)) - (await satsOfAccounts(tx));
}
