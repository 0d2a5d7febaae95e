import type { InscribeOptions, RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import type { EnvelopeContent } from '#test/builders/regtest/regtest-envelope.ts';
import {
  type Coin,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';

const postage = 10_000;
const pairType = 0x83;

export const idOfReveal = ({ txid }: RegtestTransaction): string => `${txid}i0`;

/** Makes an inscription and mines it. */
export async function inscribed(
  chain: RegtestChain,
  content: EnvelopeContent,
  options: InscribeOptions,
): Promise<RegtestTransaction> {
  const { transactions, reveal } = await chain.inscribe(content, { postage, ...options });
  await chain.mine(transactions);
  return reveal;
}

/**
 * Coins that pay for purchases. Each purchase needs two dummies and a large coin. One mature coin makes the coins of
 * thirty purchases.
 */
export class Purse {
  readonly #chain: RegtestChain;
  readonly #dummies: Coin[] = [];
  readonly #money: Coin[] = [];

  constructor(chain: RegtestChain) {
    this.#chain = chain;
  }

  /** Makes a sale after two dummies, and does not mine it. Output 1 is the item, output 2 the payout. */
  async purchase(of: Coin, buyer: number, price: number): Promise<RegtestTransaction> {
    if (this.#money.length === 0) await this.#fill();
    const [first, second, money] = [this.#dummies.pop(), this.#dummies.pop(), this.#money.pop()];
    return transaction(
      [first!, second!, { ...of, sighash: pairType }, money!],
      [
        { value: 1_200, to: buyer },
        { value: postage, to: buyer },
        { value: price + of.value, to: of.owner },
        { value: 900_000 - price, to: buyer },
      ],
    );
  }

  async #fill(): Promise<void> {
    const dummies = await this.#chain.split(2 * purchasesEach, 600, purseOwner);
    const money = await this.#chain.split(purchasesEach, 1_000_000, purseOwner);
    await this.#chain.mine([dummies, money]);
    for (let at = 0; at < purchasesEach; at++) {
      this.#dummies.push(dummies.coin(2 * at), dummies.coin(2 * at + 1));
      this.#money.push(money.coin(at));
    }
  }
}

const purchasesEach = 30;
/** Owner of the purse, who is neither the seller nor the buyer. */
const purseOwner = 77;
