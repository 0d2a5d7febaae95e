import type pg from 'pg';
import { type ProveFree, provenFree } from '#orders/funds/free-coins.ts';
import type { PayoutCoin } from '#payouts/planning/plan-payout.ts';
import { readFreeCoins } from '#purse/coins/coins.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';

/** Maximum number of coins to read, the largest first: twice as many as fit into one transaction. */
const readMost = 2000;

/**
 * Free coins of the service that are proven to hold only sats. Coins that are too deep for any reorganisation come
 * first; within each group, the largest come first. Coins that hold something else are set aside. The caller asks the
 * node whether another wallet with the seed has spent a coin. Returns null if coins of an earlier version are not all
 * listed yet.
 *
 * @param deep maximum height of a deep coin's block
 */
export async function payoutCoins(
  client: pg.Pool | pg.ClientBase,
  proveFree: ProveFree,
  deep: number,
): Promise<PayoutCoin[] | null> {
  if (!(await readCoinsFill(client)).isComplete) return null;
  const coins = await readFreeCoins(client, readMost);
  const free = await provenFree(client, coins, proveFree);
  return free
    .toSorted((a, b) => Number(b.height <= deep) - Number(a.height <= deep) || b.value - a.value)
    .map(({ txid, vout, value, script, keyIndex }) => ({
      txid,
      vout,
      value: BigInt(value),
      script,
      keyIndex,
    }));
}
