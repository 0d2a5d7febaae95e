import {
  type Coin,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import type { IndexedNode } from '#test/support/utxos/indexed-node.ts';

/** Owner numbers of the coins in tests. */
export const [alice, bob, carol, platform] = [11, 12, 13, 14] as const;
export const pairType = 0x83;
export const postage = 10_000;

/** A coin whose owner signs it with SINGLE|ANYONECANPAY. */
export const listed = (coin: Coin, sighash = pairType): Coin => ({ ...coin, sighash });

/** Makes inscriptions and purchases on a real chain. */
export class Trades {
  readonly #chain: IndexedNode['chain'];

  constructor({ chain }: Pick<IndexedNode, 'chain'>) {
    this.#chain = chain;
  }

  /** Makes an inscription of an owner, and mines it. */
  async item(owner: number): Promise<RegtestTransaction> {
    const { transactions, reveal } = await this.#chain.inscribe({ body: 'an item' }, { to: owner, postage });
    await this.#chain.mine(transactions);
    return reveal;
  }

  /** Coins of a buyer: dummies of 600 sats, and a coin that pays. */
  async purse(owner: number): Promise<{ readonly dummies: Coin[]; readonly money: Coin }> {
    const small = await this.#chain.split(6, 600, owner);
    const large = await this.#chain.split(1, 1_000_000, owner);
    await this.#chain.mine([small, large]);
    return { dummies: [0, 1, 2, 3, 4, 5].map((vout) => small.coin(vout)), money: large.coin(0) };
  }

  /** Makes a purchase after two dummies. */
  async purchase(of: Coin, buyer: number, price: number): Promise<RegtestTransaction> {
    const { dummies, money } = await this.purse(buyer);
    return transaction(
      [...dummies.slice(0, 2), listed(of), money],
      [
        { value: 1_200, to: buyer },
        { value: postage, to: buyer },
        { value: price + of.value, to: of.owner },
        { value: 2_000, to: platform },
        { value: 900_000 - price, to: buyer },
      ],
    );
  }
}
