import type pg from 'pg';
import { satsOfAccounts } from '#purse/coins/coins.store.ts';
import { owedToAccounts } from '#tokenpay/withdrawing/owed.queries.ts';

/**
 * Sats that coins of accounts lack to cover accounts and open orders of shops. 0n or less: everything is covered. The
 * coins also contain base fees of completed orders, which cover debts of accounts and payments by the operator.
 */
export async function lackingSats(tx: pg.ClientBase): Promise<bigint> {
  return (await owedToAccounts(tx)) - (await satsOfAccounts(tx));
}
