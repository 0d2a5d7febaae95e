import type { Edict } from '#indexer/runes/artifact.ts';
import {
  checkedProductU128,
  differenceU128,
  shareU128,
  smallU128,
  sumU128,
  type U128,
  zeroU128,
} from '#kernel/runes/u128.ts';
import type { Balance } from './rune-state.ts';

const one = smallU128(1);

/** The outputs of a transaction, as far as runes care. */
export interface Destinations {
  readonly count: number;
  /** Those that are no OP_RETURN, ascending. */
  readonly spendable: readonly number[];
}

/**
 * The runes of one transaction with edicts: what its inputs, mint and premine brought, and to which outputs they go.
 * Runes are by key.
 */
export class Allocation {
  readonly #destinations: Destinations;
  readonly #unallocated: Map<number, U128>;
  readonly #byOutput = new Map<number, Map<number, U128>>();
  /**
   * What each spendable output gets of a rune, by edicts that give all of them the same. Thousands of such edicts in a
   * transaction with thousands of outputs would otherwise be millions of steps.
   */
  readonly #toEach = new Map<number, U128>();

  /** @param brought what can be allocated; 0 counts too, as in ord */
  constructor(destinations: Destinations, brought: ReadonlyMap<number, U128>) {
    this.#destinations = destinations;
    this.#unallocated = new Map(brought);
  }

  /** Carries out an edict for the rune of that key; `amount` 0 is all. */
  edict(key: number, { amount, output }: Pick<Edict, 'amount' | 'output'>): void {
    const balance = this.#unallocated.get(key) ?? zeroU128;
    // nothing of it here, or no more
    if (balance === 0) return;
    if (output === this.#destinations.count) {
      this.#split(key, amount, balance);
      return;
    }
    const moved = amount === 0 || amount > balance ? balance : amount;
    this.#move(key, moved, output);
    this.#unallocated.set(key, differenceU128(balance, moved));
  }

  /** Among all spendable outputs: `amount` each as long as there is some; 0 is equal shares, the first get the rest. */
  #split(key: number, amount: U128, balance: U128): void {
    const { spendable } = this.#destinations;
    if (spendable.length === 0) return;
    const needed = checkedProductU128(amount, smallU128(spendable.length));
    if (amount !== 0 && needed !== null && needed <= balance) {
      addTo(this.#toEach, key, amount);
      this.#unallocated.set(key, differenceU128(balance, needed));
      return;
    }
    if (amount === 0) this.#share(key, balance);
    else this.#shareOut(key, amount, balance);
    this.#unallocated.set(key, zeroU128);
  }

  #share(key: number, balance: U128): void {
    const { spendable } = this.#destinations;
    const { share, left } = shareU128(balance, spendable.length);
    if (share !== 0) addTo(this.#toEach, key, share);
    for (const output of spendable.slice(0, left)) this.#move(key, one, output);
  }

  /** Less than all can get. */
  #shareOut(key: number, amount: U128, balance: U128): void {
    let left = balance;
    for (const output of this.#destinations.spendable) {
      if (left === 0) return;
      const moved = amount > left ? left : amount;
      this.#move(key, moved, output);
      left = differenceU128(left, moved);
    }
  }

  #move(key: number, amount: U128, output: number): void {
    let balances = this.#byOutput.get(output);
    if (balances === undefined) {
      balances = new Map();
      this.#byOutput.set(output, balances);
    }
    addTo(balances, key, amount);
  }

  /** Gives what is left to an output. */
  allocateRest(output: number): void {
    for (const [key, amount] of this.#unallocated) if (amount !== 0) this.#move(key, amount, output);
    this.#unallocated.clear();
  }

  /** What no output got, by key. A rune can be there with 0. */
  get rest(): ReadonlyMap<number, U128> {
    return this.#unallocated;
  }

  /** What each output got, by output and key, ascending. */
  outputs(): { readonly output: number; readonly balances: Balance[] }[] {
    for (const [key, amount] of this.#toEach)
      for (const output of this.#destinations.spendable) this.#move(key, amount, output);
    this.#toEach.clear();
    const outputs: { readonly output: number; readonly balances: Balance[] }[] = [];
    for (const [output, balances] of this.#byOutput)
      outputs.push({ output, balances: sortedBalances(balances) });
    return outputs.length < 2 ? outputs : outputs.sort((a, b) => a.output - b.output);
  }
}

/** By key, which is the order of ids. */
export function sortedBalances(amounts: ReadonlyMap<number, U128>): Balance[] {
  const balances: Balance[] = [];
  for (const [key, amount] of amounts) balances.push({ key, amount });
  // one rune is the usual case
  return balances.length < 2 ? balances : balances.sort((a, b) => a.key - b.key);
}

export function addTo(amounts: Map<number, U128>, key: number, amount: U128): void {
  const before = amounts.get(key);
  amounts.set(key, before === undefined ? amount : sumU128(before, amount));
}
