import type pg from 'pg';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { unlistedWithdrawals } from '#tokenpay/withdrawing/addresses.store.ts';
import { uncoveredWithdrawals } from '#tokenpay/withdrawing/uncovered.queries.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';

/** The reasons why withdrawals of a batch are not signed now, in words, by the id of the withdrawal. */
export type Withheld = ReadonlyMap<string, string>;

/** Withdrawals that may not be paid now, with the reasons. All other withdrawals of the batch are paid. */
export async function readWithheld(
  client: pg.ClientBase,
  payout: string,
  withdrawals: readonly Withdrawal[],
  debtMax: bigint,
): Promise<Withheld> {
  const refused = await checkDestinations(
    withdrawals.map(({ id, script, address: named }) => ({ id, script, named, amount: null })),
    (scripts) => ownScriptsAmong(client, scripts),
  );
  return new Map([
    ...(await withheldByAccount(client, payout, debtMax)),
    ...refused.map(({ destination: { id, named }, reason }) => [id, refusedReason(named, reason)] as const),
  ]);
}

/** Withdrawals that their accounts no longer cover or no longer allow. */
export async function withheldByAccount(
  client: pg.ClientBase,
  payout: string,
  debtMax: bigint,
): Promise<Withheld> {
  const uncovered = await uncoveredWithdrawals(client, payout, debtMax);
  const unlisted = await unlistedWithdrawals(client, payout);
  return new Map([
    ...uncovered.map((id) => [id, uncoveredReason] as const),
    ...unlisted.map((id) => [id, unlistedReason] as const),
  ]);
}

const uncoveredReason =
  'A reorganisation took back payments, so the account owes sats or has less than its withdrawals need. The withdrawal waits until these payments, or new ones, are in blocks. The account can cancel the withdrawal.';

const unlistedReason =
  'The address of the withdrawal is no longer in the list of the account. The withdrawal waits until the address is listed again and active. The account can cancel the withdrawal.';

const refusedReason = (named: string, reason: string): string =>
  `The address ${named} ${reason}, so nothing is sent there. Cancel the withdrawal, and ask for one to another address.`;
