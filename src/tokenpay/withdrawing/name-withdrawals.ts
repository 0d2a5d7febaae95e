import type pg from 'pg';
import { runeIdsOf } from '#chain/runes/rune-ids.queries.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { runesOfAssets } from '#purse/ledger/assets.store.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import type { PricedWithdrawal } from './planning/withdrawal-plan.ts';
import { receivedSats, type Withdrawal } from './withdrawal.ts';

/** Converts withdrawals to the planner's form. A withdrawal is omitted if no block has the etching of its rune now. */
export async function nameWithdrawals(
  client: pg.Pool | pg.ClientBase,
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
