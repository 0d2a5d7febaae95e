import type pg from 'pg';
import { openPayouts } from '#payouts/payout/payout.store.ts';
import { countPending } from '#tokenpay/withdrawing/withdrawals.store.ts';

/** Numbers of payments to others that have no signed transaction. */
export interface UnsignedPayments {
  readonly payouts: number;
  readonly withdrawals: number;
}

/**
 * Counts payments that were asked for, and have no signed transaction. After a restore the service would sign them,
 * even if it had paid them after the backup: the restored rows do not know that transaction.
 */
export async function unsignedPayments(client: pg.ClientBase): Promise<UnsignedPayments> {
  const open = await openPayouts(client);
  return {
    payouts: open.filter(({ state, kind }) => state === 'asked' && kind !== 'withdrawal').length,
    withdrawals: await countPending(client),
  };
}
