import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { areKnown } from '#orders/creating/known-scripts.queries.ts';
import { allFreeCoins, type ProveFree } from '#orders/funds/free-coins.ts';
import { insertFundAddress, unusedFundAddress } from '#orders/funds/fund-addresses.store.ts';
import { type FundCoin, readFundCoins } from '#orders/funds/fund-coins.queries.ts';
import { outpointOf } from '#orders/order/outpoint.ts';
import { takeIndices } from '#wallet/indices/release.store.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';

/**
 * A coin of the funds, for people. `free`: orders may cost it. `unconfirmed`: no block has it. `spending`: a stored
 * transaction spends it that no block has. `held`: it holds an inscription or a rune, or nothing proves that it does not.
 */
export interface ShownFund {
  /** `<txid>:<vout>` */
  readonly output: string;
  readonly sats: number;
  readonly state: 'free' | 'unconfirmed' | 'spending' | 'held';
}

export interface ShownFunds {
  /** Nothing came to it yet: the operator adds coins here. */
  readonly address: string;
  readonly funds: readonly ShownFund[];
  /** Sats of all free coins, revenue included. */
  readonly free: number;
}

/** Shows an address at which the operator adds coins, watched from the next block on, and the funds that are there. */
export async function showFunds(
  pool: pg.Pool,
  wallet: PublicWallet,
  proveFree: ProveFree,
): Promise<ShownFunds> {
  const address = await withTransaction(pool, (tx) => fundAddress(tx, wallet));
  const free = await allFreeCoins(pool, proveFree);
  const outpoints = new Set(free.map(outpointOf));
  const there = (await readFundCoins(pool)).filter(({ spending }) => spending !== 'mined');
  return {
    address,
    funds: there.map((coin) => ({
      output: outpointOf(coin),
      sats: Number(coin.value),
      state: stateOf(coin, outpoints),
    })),
    free: free.reduce((sum, { value }) => sum + Number(value), 0),
  };
}

async function fundAddress(tx: pg.ClientBase, wallet: PublicWallet): Promise<string> {
  const unused = await unusedFundAddress(tx);
  if (unused !== null) return unused;
  for (;;) {
    const { own: ownIndex } = await takeIndices(tx, { orders: 0, own: 1 });
    const made = wallet.ownAddress(ownIndex);
    // as after a restore of an older database without the mark: later ones were not shown
    if (await areKnown(tx, [made])) continue;
    await insertFundAddress(tx, { ownIndex, script: made.script, address: made.address });
    return made.address;
  }
}

function stateOf(coin: FundCoin, free: ReadonlySet<string>): ShownFund['state'] {
  if (coin.height === null) return 'unconfirmed';
  // one that was stored may never be mined
  if (free.has(outpointOf(coin))) return 'free';
  return coin.spending === 'stored' ? 'spending' : 'held';
}
