import type { Edict } from '#kernel/runes/runestone/artifact.ts';
import {
  checkedProductU128,
  differenceU128,
  shareU128,
  smallU128,
  sumU128,
  type U128,
  zeroU128,
} from '#kernel/runes/u128.ts';
import { RuneAmounts } from './rune-amounts.ts';

const one = smallU128(1);

/** The data about a transaction's outputs that runes need. */
export interface Destinations {
  readonly count: number;
  /** Indexes of the outputs that are not an OP_RETURN, ascending. */
  spendable(): readonly number[];
}

/**
 * The runes of a transaction with edicts, and the outputs that they go to. The runes come from its inputs, mint and
 * premine, and are identified by key. One object is used for one transaction after another, to reuse its memory.
 */
export class Allocation {
  /** Unallocated amounts, by key. An amount can be 0. */
  readonly unallocated = new RuneAmounts();
  /** Number of balances of the outputs, after `end`. Balances are sorted by output and key. */
  size = 0;
  readonly #destinations: Destinations;
  readonly #outputs: number[] = [];
  readonly #keys: number[] = [];
  readonly #amounts: U128[] = [];
  /**
   * Amounts that each spendable output gets from edicts that give all outputs the same amount, by rune. Without this,
   * thousands of such edicts in a transaction with thousands of outputs would take millions of steps.
   */
  readonly #toEach = new RuneAmounts();

  /** @param destinations data about the transaction that is being applied */
  constructor(destinations: Destinations) {
    this.#destinations = destinations;
  }

  /** @param amounts amounts to allocate; an amount of 0 is allocated too, as in ord */
  begin(amounts: RuneAmounts): void {
    this.size = 0;
    this.#toEach.clear();
    this.unallocated.clear();
    for (let place = 0; place < amounts.size; place++)
      this.unallocated.set(amounts.keyAt(place), amounts.amountAt(place));
  }

  outputAt(place: number): number {
    return this.#outputs[place]!;
  }

  keyAt(place: number): number {
    return this.#keys[place]!;
  }

  amountAt(place: number): U128 {
    return this.#amounts[place]!;
  }

  /** Applies an edict to the rune with this key. `amount` 0 means all units. */
  edict(key: number, { amount, output }: Pick<Edict, 'amount' | 'output'>): void {
    const balance = this.unallocated.get(key);
    // there are no units of this rune, or no units are left
    if (balance === 0) return;
    if (output === this.#destinations.count) {
      this.#split(key, amount, balance);
      return;
    }
    const moved = amount === 0 || amount > balance ? balance : amount;
    this.#move(key, moved, output);
    this.unallocated.set(key, differenceU128(balance, moved));
  }

  /**
   * Splits a balance among all spendable outputs. Each output gets `amount` while units are left. If `amount` is 0, the
   * outputs get equal shares, and the first outputs get the remaining units.
   */
  #split(key: number, amount: U128, balance: U128): void {
    const spendable = this.#destinations.spendable();
    if (spendable.length === 0) return;
    const needed = checkedProductU128(amount, smallU128(spendable.length));
    if (amount !== 0 && needed !== null && needed <= balance) {
      this.#toEach.add(key, amount);
      this.unallocated.set(key, differenceU128(balance, needed));
      return;
    }
    if (amount === 0) this.#share(key, balance, spendable);
    else this.#shareOut(key, amount, balance, spendable);
    this.unallocated.set(key, zeroU128);
  }

  #share(key: number, balance: U128, spendable: readonly number[]): void {
    const { share, left } = shareU128(balance, spendable.length);
    if (share !== 0) this.#toEach.add(key, share);
    for (const output of spendable.slice(0, left)) this.#move(key, one, output);
  }

  /** Splits a balance that is too small to give `amount` to all outputs. */
  #shareOut(key: number, amount: U128, balance: U128, spendable: readonly number[]): void {
    let left = balance;
    for (const output of spendable) {
      if (left === 0) return;
      const moved = amount > left ? left : amount;
      this.#move(key, moved, output);
      left = differenceU128(left, moved);
    }
  }

  #move(key: number, amount: U128, output: number): void {
    const place = this.size++;
    this.#outputs[place] = output;
    this.#keys[place] = key;
    this.#amounts[place] = amount;
  }

  /** Allocates all remaining amounts to an output. */
  allocateRemaining(output: number): void {
    const { unallocated } = this;
    for (let place = 0; place < unallocated.size; place++)
      if (unallocated.amountAt(place) !== 0)
        this.#move(unallocated.keyAt(place), unallocated.amountAt(place), output);
    unallocated.clear();
  }

  /** Ends the edicts. Sorts the balances of the outputs, and adds up balances of the same output and rune. */
  end(): void {
    const toEach = this.#toEach;
    for (let place = 0; place < toEach.size; place++)
      for (const output of this.#destinations.spendable())
        this.#move(toEach.keyAt(place), toEach.amountAt(place), output);
    for (let place = 1; place < this.size; place++)
      if (this.#compare(place - 1, place) >= 0) {
        this.#sort();
        return;
      }
  }

  #compare(a: number, b: number): number {
    return this.#outputs[a]! - this.#outputs[b]! || this.#keys[a]! - this.#keys[b]!;
  }

  #sort(): void {
    const order = Array.from({ length: this.size }, (_, place) => place).sort((a, b) => this.#compare(a, b));
    const moves = order.map(
      (place) => [this.#outputs[place]!, this.#keys[place]!, this.#amounts[place]!] as const,
    );
    this.size = 0;
    for (const [output, key, amount] of moves) {
      const last = this.size - 1;
      if (last >= 0 && this.#outputs[last] === output && this.#keys[last] === key)
        this.#amounts[last] = sumU128(this.#amounts[last]!, amount);
      else this.#move(key, amount, output);
    }
  }
}
