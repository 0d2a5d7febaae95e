import { unreachable } from '#kernel/unreachable.ts';
import { type ChosenCoins, type CoinFrame, type CoinsShort, chooseCoins } from './choose-coins.ts';

/** Whether a coin may be spent. The reasons follow the words "the output". */
export type CoinVerdict =
  | { readonly kind: 'free' }
  /** The coin must not be spent: it holds something besides sats, or is already spent. */
  | { readonly kind: 'kept'; readonly reason: string }
  | { readonly kind: 'unproven'; readonly reason: string };

/** Checks coins, and returns their verdicts in the same order. */
export type ProveCoins<Coin> = (coins: readonly Coin[]) => Promise<readonly CoinVerdict[]>;

/** Lists coins that the first list does not have. */
export type OtherCoins<Coin> = () => Promise<readonly Coin[]>;

export type CoinOutcome<Coin> =
  | ChosenCoins<Coin>
  | (CoinsShort & { readonly leftOut: ReadonlyMap<string, number> })
  /** The coins might be enough if this could be proven. */
  | { readonly kind: 'unproven'; readonly reason: string };

/** Number of coins in the first round. Most transactions need one or two. Each later round is four times as large. */
const firstLook = 12;
const growth = 4;
/**
 * Maximum number of coins per round. In such a round, the node's response has 100 kB, and SQL statements take tens of
 * milliseconds.
 */
const lookMax = 1_000;

/** Number of coins in the first two rounds. They are enough for most transactions. */
export const firstLooks = firstLook * (1 + growth);

/**
 * The coins of an address, the largest first. Each coin is proven to be free before it is spent. Only as many coins as
 * a transaction needs are checked, because an address may have 10,000 coins.
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

  /** @param others lists all other coins, which are not larger than the candidates; null if there are no other coins */
  constructor(candidates: readonly Coin[], prove: ProveCoins<Coin>, others: OtherCoins<Coin> | null = null) {
    this.#candidates = candidates.toSorted(byValue);
    this.#prove = prove;
    this.#others = others;
  }

  /** Chooses coins that pay for a transaction (`chooseCoins`). Rejects like `prove`. */
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

  /**
   * The free coin at this index, where the largest coin has the index 0. Returns null if there are fewer coins.
   */
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

/** Sorts by value, the largest first. */
const byValue = (a: { readonly value: bigint }, b: { readonly value: bigint }): number =>
  a.value === b.value ? 0 : a.value < b.value ? 1 : -1;
