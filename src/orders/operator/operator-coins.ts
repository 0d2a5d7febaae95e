import type pg from 'pg';
import { inventoryOutputs, reservedOutpoints } from '#inventory/inventory.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { readStoredCoins, type StoredCoin } from '#purse/coins/shown-coins.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

export const coinHolders = ['free', 'reserved', 'waiting', 'accounts', 'aside', 'spent'] as const;
export type CoinHolder = (typeof coinHolders)[number];

/** A coin of the wallet in the form that people see. */
export interface ShownCoin {
  /** `<txid>:<vout>` */
  readonly output: string;
  readonly sats: number;
  readonly held: CoinHolder;
  /** The rule that decides who holds the coin, or the transaction that spends it. */
  readonly why: string;
  readonly orderId: string | null;
  readonly branch: number;
  /** Index of the coin's key. Null if the list of the inventory does not know the key. */
  readonly index: number | null;
  /** Height of the coin's block. Null if no block is known to have the coin. */
  readonly height: number | null;
}

export interface ShownCoins {
  readonly coins: readonly ShownCoin[];
  /** Whether the coins of all earlier orders are already listed. */
  readonly isComplete: boolean;
}

/** Maximum number of inventory outputs to read (docs/inventory.md). */
const inventoryMost = 1_000_000;

/**
 * The coins of the wallet and of the inventory, the largest first. Spent coins are read only on request, because their
 * number only grows.
 *
 * @param held holder whose coins are read; if it is null, the coins of all holders except `spent`
 */
export async function showCoins(pool: pg.Pool, held: CoinHolder | null): Promise<ShownCoins> {
  const { isComplete } = await readCoinsFill(pool);
  const stored = await readStoredCoins(pool, held === 'spent');
  const stock = held === 'spent' ? [] : await inventoryOutputs(pool, inventoryMost);
  const reserved = stock.length === 0 ? new Set<string>() : await reservedOutpoints(pool);
  const stocked = new Set(stock.map(outpointOf));
  const coins = [
    ...stored.filter((coin) => !stocked.has(outpointOf(coin))).map(shown),
    ...stock.map(({ txid, vout, value, height }): ShownCoin => {
      const output = outpointOf({ txid, vout });
      const standing = reserved.has(output) ? 'reserved' : 'aside';
      const row = { output, sats: value, why: 'inventory', orderId: null, branch: 2, index: null, height };
      return { ...row, held: standing };
    }),
  ];
  return {
    coins: coins.filter((coin) => held === null || coin.held === held).toSorted((a, b) => b.sats - a.sats),
    isComplete,
  };
}

/** Coins of one holder together. */
export interface CoinSum {
  readonly held: CoinHolder;
  readonly coins: number;
  readonly sats: number;
}

/** Sums of coins by holder, for the holders that have any. */
export const sumsOfCoins = (coins: readonly ShownCoin[]): CoinSum[] =>
  coinHolders.flatMap((held) => {
    const of = coins.filter((coin) => coin.held === held);
    const sats = of.reduce((sum, coin) => sum + coin.sats, 0);
    return of.length === 0 ? [] : [{ held, coins: of.length, sats }];
  });

function shown(coin: StoredCoin): ShownCoin {
  const { value, kind, subject, key, height } = coin;
  return {
    output: outpointOf(coin),
    sats: Number(value),
    ...standingOf(coin),
    orderId: kind === 'order' ? subject : null,
    branch: key.branch,
    index: key.index,
    height,
  };
}

/** The present holder of a coin. A free coin without a block is shown as waiting. */
function standingOf({ held, why, aside, height, spentBy }: StoredCoin): Pick<ShownCoin, 'held' | 'why'> {
  if (spentBy !== null) return { held: 'spent', why: `by ${spentBy}` };
  if (aside !== null) return { held: 'aside', why: aside };
  return held === 'free' && height === null ? { held: 'waiting', why: 'confirmation' } : { held, why };
}
