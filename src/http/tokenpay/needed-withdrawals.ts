import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { AccountWithdrawals } from '#tokenpay/withdrawing/account-withdrawals.ts';

/** The withdrawals of accounts. Throws `orders_off` if this service makes no withdrawals. */
export function neededWithdrawals({
  withdrawals = null,
}: Pick<AppDependencies, 'withdrawals'>): AccountWithdrawals {
  if (withdrawals === null) throw new AppError('orders_off', 'this service makes no withdrawals');
  return withdrawals;
}
