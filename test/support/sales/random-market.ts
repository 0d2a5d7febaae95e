import { type MadeTransaction, MarketCoins, type MarketTransaction } from './market-coins.ts';
import { RandomPurchases } from './random-purchases.ts';
import { RandomTransfers } from './random-transfers.ts';

/** Transactions of a random market, one of each kind in turn. The same seed gives the same market. */
export class RandomMarket {
  readonly #kinds: readonly (readonly [string, () => MadeTransaction])[];
  #at = 0;

  constructor(seed: string) {
    const coins = new MarketCoins(seed);
    const { kinds: purchases } = new RandomPurchases(coins);
    const { kinds: transfers } = new RandomTransfers(coins);
    this.#kinds = Object.entries({ ...purchases, ...transfers });
  }

  next(): MarketTransaction {
    const [kind, make] = this.#kinds[this.#at++ % this.#kinds.length]!;
    return { kind, ...make() };
  }
}
