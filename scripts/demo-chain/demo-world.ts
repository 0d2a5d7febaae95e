import type { BatchRpc } from '#kernel/contracts/node.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import type { EnvelopeContent } from '#test/builders/regtest/regtest-envelope.ts';
import {
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';

/** Time from which on the demo has one block per day, so that charts have days. */
const firstDay = Date.UTC(2026, 9, 13, 12) / 1000;
const daySeconds = 86_400;
/** Number of blocks before the first coin is mature. */
const emptyBlocks = 101;

export const postage = 10_000;
/** The owner of the coins that pay for everything. */
const treasury = 900;
const coinValue = 40_000_000;
const pairType = 0x83;
const platform = 55;
const platformFee = 2_000;

export interface Inscribing {
  readonly to: number;
  /** Coins of the parents. The first outputs return them to their owners. */
  readonly parents?: readonly Coin[];
}

/** A chain that is built day by day. All transactions of a day are mined together. */
export class DemoWorld {
  readonly chain: RegtestChain;
  readonly #rpc: BatchRpc;
  readonly #coins: Coin[] = [];
  readonly #rare: Coin[] = [];
  #today: RegtestTransaction[] = [];
  #day = 0;
  height = 0;

  private constructor(rpc: BatchRpc, chain: RegtestChain) {
    this.#rpc = rpc;
    this.chain = chain;
  }

  static async start(rpc: BatchRpc): Promise<DemoWorld> {
    const chain = await RegtestChain.start(rpc, 0);
    const world = new DemoWorld(rpc, chain);
    for (let block = 0; block < emptyBlocks; block++) {
      // blocks before the first day are ten minutes apart
      await world.#setTime(firstDay - daySeconds - (emptyBlocks - block) * 600);
      world.height = (await chain.mine()).height;
    }
    return world;
  }

  async #setTime(seconds: number): Promise<void> {
    await this.#rpc.call('setmocktime', [seconds]);
  }

  /**
   * Returns a coin of the treasury. If none is left, it makes a new split, which is mined together with the transaction
   * that spends the coin.
   */
  async coin(): Promise<Coin> {
    if (this.#coins.length === 0) {
      const split = await this.chain.split(100, coinValue, treasury);
      this.#today.push(split);
      this.#rare.push(split.coin(0));
      for (let vout = 1; vout < 100; vout++) this.#coins.push(split.coin(vout));
    }
    const coin = this.#coins.pop();
    if (coin === undefined) throw new Error('the treasury has coins');
    return coin;
  }

  /** Coins that begin with the first sat of a block. Each is returned once. */
  rareCoins(): Coin[] {
    return this.#rare.splice(0);
  }

  /** The id of a rune that the next transaction etches. */
  nextRuneId(): RuneId {
    return { block: smallU128(this.height + 1), tx: this.#today.length + 1 };
  }

  /** Adds a transaction to the day. */
  add(made: RegtestTransaction): RegtestTransaction {
    this.#today.push(made);
    return made;
  }

  /** Adds a reveal with an inscription, or with several that are each in a separate output. Returns the reveal. */
  async inscribe(
    contents: EnvelopeContent | readonly EnvelopeContent[],
    { to, parents = [] }: Inscribing,
  ): Promise<RegtestTransaction> {
    const all = (Array.isArray(contents) ? contents : [contents]) as readonly EnvelopeContent[];
    const before = parents.reduce((sum, { value }) => sum + value, 0);
    const placed = all.map((content, at) => ({
      ...content,
      ...(at === 0 ? {} : { pointer: before + at * postage }),
    }));
    const payments = all.map((): NewOutput => ({ value: postage, to }));
    const { commit, reveal } = await this.chain.inscribe(placed, {
      parents,
      payments,
      from: await this.coin(),
    });
    this.add(commit);
    return this.add(reveal);
  }

  /** Sends a coin to another owner. */
  async send(coin: Coin, to: number): Promise<RegtestTransaction> {
    const fee = await this.coin();
    return this.add(
      transaction(
        [coin, fee],
        [
          { value: coin.value, to },
          { value: fee.value - 1_000, to: treasury },
        ],
      ),
    );
  }

  /** Pays outputs with the given coins first, and then with a coin of the treasury. */
  async pay(outputs: readonly NewOutput[], given: readonly Coin[] = []): Promise<RegtestTransaction> {
    const money = await this.coin();
    const all = [...given, money];
    const paid = outputs.reduce((sum, { value }) => sum + value, 0);
    const rest = all.reduce((sum, { value }) => sum + value, 0) - paid - 2_000;
    return this.add(transaction(all, [...outputs, { value: rest, to: treasury }]));
  }

  /**
   * Lets a buyer take a listing. Two dummies come before the listing, and a fee of the market comes after it. Returns
   * the item's new coin.
   */
  async buy(item: Coin, buyer: number, price: number): Promise<Coin> {
    const purse = await this.pay([
      { value: 600, to: buyer },
      { value: 600, to: buyer },
      { value: price + 100_000, to: buyer },
    ]);
    const sale = this.add(
      transaction(
        [purse.coin(0), purse.coin(1), { ...item, sighash: pairType }, purse.coin(2)],
        [
          { value: 1_200, to: buyer },
          { value: item.value, to: buyer },
          { value: price, to: item.owner },
          { value: platformFee, to: platform },
          { value: 90_000, to: buyer },
        ],
      ),
    );
    return sale.coin(1);
  }

  /** Mines the transactions of the day. */
  async nextDay(): Promise<void> {
    await this.#setTime(firstDay + this.#day * daySeconds);
    this.#day++;
    this.height = (await this.chain.mine(this.#today)).height;
    this.#today = [];
  }
}
