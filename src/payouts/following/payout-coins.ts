import type pg from 'pg';
import { type ProveFree, provenFree } from '#orders/funds/free-coins.ts';
import type { PayoutCoin } from '#payouts/planning/plan-payout.ts';
import { readFreeCoins } from '#purse/coins/coins.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';

/** Maximum number of coins to read, the largest first. It is twice the number that fits into one transaction. */
const readMost = 2000;

/**
 * Free coins of the service that are proven to hold only sats. Coins whose blocks are too deep for any reorganisation
 * come first, and within each group the largest come first. Coins that hold anything else are set aside. The caller
 * asks the node whether another wallet with the same seed has spent a coin. Returns null if some coins of an earlier
 * version are not listed yet.
 *
 * @param deep maximum block height of a deep coin
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
