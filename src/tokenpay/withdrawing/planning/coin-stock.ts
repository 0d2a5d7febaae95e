import { formatRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import type { WithdrawalCoin } from './withdrawal-plan.ts';

/** The name of an asset in sums: `sats`, or the id of a rune. */
export type AssetName = string;

export const satsName: AssetName = 'sats';

export const assetName = (rune: RuneId | null): AssetName => (rune === null ? satsName : formatRuneId(rune));

/** The amounts that a coin holds, by asset: its sats and its runes. */
export function amountsIn({ value, runes }: WithdrawalCoin): Map<AssetName, bigint> {
  const amounts = new Map([[satsName, value]]);
  for (const { id, amount } of runes) {
    const name = formatRuneId(id);
    amounts.set(name, (amounts.get(name) ?? 0n) + BigInt(amount));
  }
  return amounts;
}

export const hasRunes = ({ runes }: WithdrawalCoin): boolean => runes.some(({ amount }) => amount !== 0);

interface Shelf {
  readonly coins: { readonly coin: WithdrawalCoin; readonly amount: bigint }[];
  /** Index of the first coin that may still be free. */
  next: number;
}

/**
 * Free coins by owner and asset, the largest amount first. A look-up costs O(1), plus the taken coins that it skips.
 */
export class CoinStock {
  readonly #shelves = new Map<string | null, Map<AssetName, Shelf>>();
  readonly #taken = new Set<WithdrawalCoin>();

  constructor(coins: readonly WithdrawalCoin[]) {
    for (const coin of coins)
      for (const [asset, amount] of amountsIn(coin))
        if (amount > 0n) this.#shelf(coin.owner, asset).coins.push({ coin, amount });
    for (const shelves of this.#shelves.values())
      for (const { coins: stocked } of shelves.values())
        stocked.sort((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1));
  }

  /**
   * Finds the owner's coin with the largest amount that is neither taken nor in `among`. Returns null if there is no
   * such coin.
   */
  largest(owner: string | null, asset: AssetName, among: ReadonlySet<WithdrawalCoin>): WithdrawalCoin | null {
    const shelf = this.#shelves.get(owner)?.get(asset);
    if (shelf === undefined) return null;
    const { coins } = shelf;
    for (let first = coins[shelf.next]; first !== undefined; first = coins[shelf.next]) {
      if (!this.#taken.has(first.coin)) break;
      shelf.next++;
    }
    for (let place = shelf.next; ; place++) {
      const stocked = coins[place];
      if (stocked === undefined) return null;
      if (!this.#taken.has(stocked.coin) && !among.has(stocked.coin)) return stocked.coin;
    }
  }

  take(coins: Iterable<WithdrawalCoin>): void {
    for (const coin of coins) this.#taken.add(coin);
  }

  #shelf(owner: string | null, asset: AssetName): Shelf {
    const shelves = this.#shelves.get(owner) ?? new Map<AssetName, Shelf>();
    this.#shelves.set(owner, shelves);
    const shelf = shelves.get(asset) ?? { coins: [], next: 0 };
    shelves.set(asset, shelf);
    return shelf;
  }
}
