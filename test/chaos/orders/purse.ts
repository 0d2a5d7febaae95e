import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import type { Coin } from '#test/builders/regtest/regtest-transaction.ts';

/** Value of a coin in sats. It is more than the largest payment, which is 1 BTC too much. */
const coinSats = 130_000_000;
const coinsOfBlock = 30;
const blocks = 10;
/** Number of blocks that bury a coin. It is more than the depth of any reorganisation of a run. */
const buriedBlocks = 20;

/** Coins of customers that no reorganisation takes back. The change of a coin can be used when it is buried. */
export class Purse {
  readonly #chain: RegtestChain;
  readonly #coins: Coin[] = [];
  readonly #young: Coin[] = [];

  private constructor(chain: RegtestChain) {
    this.#chain = chain;
  }

  /** Makes a purse. The chain must have enough mature coinbases of 50 BTC. */
  static async fill(chain: RegtestChain): Promise<Purse> {
    const purse = new Purse(chain);
    for (let block = 0; block < blocks; block++) {
      const split = await chain.split(coinsOfBlock, coinSats);
      await chain.mine([split]);
      for (let vout = 0; vout < coinsOfBlock; vout++) purse.#coins.push(split.coin(vout));
    }
    await chain.mineEmpty(buriedBlocks);
    return purse;
  }

  /** Takes a coin with at least this value. `null` if no coin is large enough now. */
  async take(least: number): Promise<Coin | null> {
    const found = this.#coins.findIndex(({ value }) => value >= least);
    if (found >= 0) return this.#coins.splice(found, 1)[0] ?? null;
    for (const [place, coin] of this.#young.entries()) {
      if (coin.value < least || !(await this.#isBuried(coin))) continue;
      this.#young.splice(place, 1);
      return coin;
    }
    return null;
  }

  /** Keeps the change of a payment for later. The payment may still be replaced. */
  keep(coin: Coin): void {
    this.#young.push(coin);
  }

  async #isBuried({ txid, vout }: Coin): Promise<boolean> {
    const output = await this.#chain.rpc.call<{ confirmations: number } | null>('gettxout', [txid, vout]);
    return output !== null && output.confirmations >= buriedBlocks;
  }
}
