import { unreachable } from '#kernel/unreachable.ts';
import { type ChosenCoins, type CoinFrame, type CoinsShort, chooseCoins } from './choose-coins.ts';

/** Whether a coin may be spent. Reasons continue "the output". */
export type CoinVerdict =
  | { readonly kind: 'free' }
  /** It holds something, or is spent. */
  | { readonly kind: 'kept'; readonly reason: string }
  | { readonly kind: 'unproven'; readonly reason: string };

/** Looks at coins, in their order. */
export type ProveCoins<Coin> = (coins: readonly Coin[]) => Promise<readonly CoinVerdict[]>;

/** Lists coins that were not listed before. */
export type OtherCoins<Coin> = () => Promise<readonly Coin[]>;

export type CoinOutcome<Coin> =
  | ChosenCoins<Coin>
  | (CoinsShort & { readonly leftOut: ReadonlyMap<string, number> })
  /** They might pay if this could be proven. */
  | { readonly kind: 'unproven'; readonly reason: string };

/** Number of coins in the first round: most transactions need one or two. Each next round is four times as large. */
const firstLook = 12;
const growth = 4;
/** Maximum number of coins per round. The node's answer has 100 kB, and statements take tens of milliseconds. */
const lookMax = 1_000;

/** Coins of the first two looks: they pay for most transactions. */
export const firstLooks = firstLook * (1 + growth);

/**
 * The coins of an address, the largest first. Each is proven to be free before it is spent, and no more of them are
 * looked at than a transaction needs: an address may have 10,000.
 */
export class CoinSupply<Coin extends { readonly value: bigint }> {
  readonly #prove: ProveCoins<Coin>;
  readonly #free: Coin[] = [];
  readonly #leftOut = new Map<string, number>();
  #candidates: readonly Coin[];
  #others: OtherCoins<Coin> | null;
  #unproven: string | null = null;
  #seen = 0;
  #look = firstLook;

  /** @param others lists the coins besides the candidates, none of them larger; null: there are no others */
  constructor(candidates: readonly Coin[], prove: ProveCoins<Coin>, others: OtherCoins<Coin> | null = null) {
    this.#candidates = candidates.toSorted(byValue);
    this.#prove = prove;
    this.#others = others;
  }

  /** Coins that pay for a transaction (`chooseCoins`). Rejects as `prove` does. */
  async choose(frame: CoinFrame): Promise<CoinOutcome<Coin>> {
    for (;;) {
      const choice = chooseCoins(this.#free, frame, this.#isAll);
      switch (choice.kind) {
        case 'more':
          await this.#more();
          break;
        case 'chosen':
          return choice;
        case 'too-many':
          return { ...choice, leftOut: this.#leftOut };
        case 'short':
          return this.#unproven === null
            ? { ...choice, leftOut: this.#leftOut }
            : { kind: 'unproven', reason: this.#unproven };
        default:
          return unreachable(choice);
      }
    }
  }

  /** The free coin with this number of larger ones before it. Null: there is no such coin. */
  async at(place: number): Promise<Coin | null> {
    while (this.#free.length <= place && !this.#isAll) await this.#more();
    return this.#free[place] ?? null;
  }

  get #isAll(): boolean {
    return this.#others === null && this.#seen === this.#candidates.length;
  }

  async #more(): Promise<void> {
    if (this.#others !== null && this.#seen === this.#candidates.length) {
      const others = await this.#others();
      this.#candidates = [...this.#candidates, ...others.toSorted(byValue)];
      this.#others = null;
    }
    const looked = this.#candidates.slice(this.#seen, this.#seen + this.#look);
    this.#look = Math.min(lookMax, this.#look * growth);
    const verdicts = await this.#prove(looked);
    this.#seen += looked.length;
    for (const [place, coin] of looked.entries()) {
      const verdict = verdicts[place] ?? { kind: 'unproven', reason: 'is not known' };
      if (verdict.kind === 'free') this.#free.push(coin);
      else this.#leftOut.set(verdict.reason, (this.#leftOut.get(verdict.reason) ?? 0) + 1);
      if (verdict.kind === 'unproven') this.#unproven ??= verdict.reason;
    }
  }
}

/** The largest first. */
const byValue = (a: { readonly value: bigint }, b: { readonly value: bigint }): number =>
  a.value === b.value ? 0 : a.value < b.value ? 1 : -1;
