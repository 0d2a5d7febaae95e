import type pg from 'pg';
import { runeIdsOf } from '#chain/runes/rune-ids.queries.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { PayoutTransaction } from '#payouts/payout/payout.ts';
import { runesOfAssets } from '#purse/ledger/assets.store.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';
import type { PricedWithdrawal, WithdrawalCoin } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import { receivedSats, type Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { readWithdrawalCoins } from '#tokenpay/withdrawing/withdrawal-coins.ts';

/** Names withdrawals as the planner needs them, without those of which no block has the etching now. */
export async function nameWithdrawals(
  client: pg.ClientBase,
  withdrawals: readonly Withdrawal[],
): Promise<PricedWithdrawal[]> {
  const assets = [...new Set(withdrawals.map(({ asset }) => asset))].filter((asset) => asset !== satsAsset);
  const ids = await runeIdsOf(client, await runesOfAssets(client, assets));
  const byAsset = new Map(assets.map((asset, place) => [asset, ids[place] ?? null]));
  return withdrawals.flatMap((withdrawal) => {
    const rune = byAsset.get(withdrawal.asset) ?? null;
    return rune === null && withdrawal.asset !== satsAsset ? [] : [pricedOf(withdrawal, rune)];
  });
}

const pricedOf = (withdrawal: Withdrawal, rune: RuneId | null): PricedWithdrawal => {
  const { id, account, amount: units, script } = withdrawal;
  return { id, account, rune, units, script, sats: receivedSats(withdrawal) };
};

/** Free coins that these withdrawals may spend: of their accounts and without an owner, of each asset and of sats. */
export async function coinsFor(
  client: pg.ClientBase,
  withdrawals: readonly Withdrawal[],
  inputsMax: number,
): Promise<WithdrawalCoin[]> {
  const accounts = [...new Set(withdrawals.map(({ account }) => account))];
  const assets = new Set<number | null>([null]);
  for (const { asset } of withdrawals) if (asset !== satsAsset) assets.add(asset);
  return readWithdrawalCoins(client, { accounts, limit: inputsMax * withdrawals.length, assets });
}

/** Coins that a stored transaction spends, with what the index says that they hold. Null: it does not know. */
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
