import { type AssetName, amountsIn } from './coin-stock.ts';
import type { WithdrawalCoin } from './withdrawal-plan.ts';

/**
 * Holder of amounts in taken coins that no withdrawal uses yet. `ownOf` returns the name for an account. `left` is the
 * holder for coins without an owner, and for the rest of a price. `kept` is the holder for coins of a replaced
 * transaction, which all its withdrawals may use.
 */
export type Holder = `account ${string}` | 'left' | 'kept';

export const ownOf = (account: string): Holder => `account ${account}`;

export const holderOf = ({ owner }: WithdrawalCoin): Holder => (owner === null ? 'left' : ownOf(owner));

type Key = `${Holder} ${AssetName}`;

/** Amounts in taken coins that are still unused, by holder and asset. */
export class LooseAmounts {
  readonly #amounts = new Map<Key, bigint>();

  amount(holder: Holder, asset: AssetName): bigint {
    return this.#amounts.get(`${holder} ${asset}`) ?? 0n;
  }

  add(holder: Holder, asset: AssetName, amount: bigint): void {
    this.#amounts.set(`${holder} ${asset}`, this.amount(holder, asset) + amount);
  }

  addCoin(holder: Holder, coin: WithdrawalCoin): void {
    for (const [asset, amount] of amountsIn(coin)) this.add(holder, asset, amount);
  }

  addAll(others: LooseAmounts): void {
    for (const [key, amount] of others.#amounts)
      this.#amounts.set(key, (this.#amounts.get(key) ?? 0n) + amount);
  }
}

/** Coins and amounts for one more withdrawal, which is not accepted yet. */
export class Trial {
  readonly coins = new Set<WithdrawalCoin>();
  /** Changes that the withdrawal makes to the loose amounts. */
  readonly changes = new LooseAmounts();
  readonly #loose: LooseAmounts;

  constructor(loose: LooseAmounts) {
    this.#loose = loose;
  }

  take(coin: WithdrawalCoin): void {
    this.coins.add(coin);
    this.changes.addCoin(holderOf(coin), coin);
  }

  /** Uses at most `most` of a holder's amount. Returns the used amount. */
  use(holder: Holder, asset: AssetName, most: bigint): bigint {
    const there = this.#loose.amount(holder, asset) + this.changes.amount(holder, asset);
    const used = there < most ? there : most;
    if (used !== 0n) this.changes.add(holder, asset, -used);
    return used;
  }
}
