import type pg from 'pg';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type AccountCoin, readAccountCoins, type WantedCoins } from './account-coins.queries.ts';
import type { WithdrawalCoin } from './planning/withdrawal-plan.ts';

/**
 * Reads coins that withdrawals may spend, with all their runes according to the index. A coin with an inscription, or
 * with runes that the index does not know, is omitted for now.
 *
 * @param wanted.assets runes for which coins are read; null reads all coins, those with the most sats first
 */
export async function readWithdrawalCoins(
  client: pg.Pool | pg.ClientBase,
  { assets, ...wanted }: Omit<WantedCoins, 'asset'> & { readonly assets: Iterable<number | null> },
): Promise<WithdrawalCoin[]> {
  const coins = new Map<string, AccountCoin>();
  for (const asset of assets)
    for (const coin of await readAccountCoins(client, { ...wanted, asset }))
      coins.set(outpointOf(coin), coin);
  return coinsWithRunes(client, [...coins.values()]);
}

/** Adds the runes to these coins. Omits coins that hold more than runes, and coins with unknown contents. */
export async function coinsWithRunes(
  client: pg.Pool | pg.ClientBase,
  coins: readonly AccountCoin[],
): Promise<WithdrawalCoin[]> {
  const held = await readHoldings(client, coins);
  return coins.flatMap(({ txid, vout, sats: value, script, key, owner }, place): WithdrawalCoin[] => {
    const { inscriptions, runes } = held[place] ?? { inscriptions: null, runes: null };
    if (runes === null || inscriptions === null || inscriptions.length > 0) return [];
    return [{ txid, vout, value, script, key, owner, runes }];
  });
}
