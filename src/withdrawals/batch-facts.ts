import type pg from 'pg';
import type { PayoutTransaction } from '#payouts/payout/payout.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';
import type { WithdrawalCoin } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { readWithdrawalCoins } from '#tokenpay/withdrawing/withdrawal-coins.ts';

/**
 * Free coins that these withdrawals may spend, for each asset and for sats. The coins belong to the withdrawals'
 * accounts or to no account.
 */
export async function coinsFor(
  client: pg.ClientBase,
  withdrawals: readonly Withdrawal[],
  inputsMax: number,
): Promise<WithdrawalCoin[]> {
  const accounts = [...new Set(withdrawals.map(({ account }) => account))];
  const assets = new Set<number | null>([null]);
  for (const { asset } of withdrawals) if (asset !== satsAsset) assets.add(asset);
  return readWithdrawalCoins(client, { accounts, limit: (inputsMax + 1) * withdrawals.length, assets });
}

/**
 * Coins that a stored transaction spends, with their contents according to the index. Returns null if the index does
 * not know the contents.
 */
export async function spentCoins(
  client: pg.ClientBase,
  { plan }: Pick<PayoutTransaction, 'plan'>,
): Promise<WithdrawalCoin[] | null> {
  const coins = plan.inputs.map(({ outpoint, value, script, keyIndex: index, branch = 1 }) => ({
    ...outpointParts(outpoint),
    value: BigInt(value),
    script: Buffer.from(script, 'hex'),
    key: { branch, index },
    owner: null,
  }));
  const held = await readHoldings(client, coins);
  const known = coins.flatMap((coin, place): WithdrawalCoin[] => {
    const runes = held[place]?.runes ?? null;
    return runes === null ? [] : [{ ...coin, runes }];
  });
  return known.length === coins.length ? known : null;
}
