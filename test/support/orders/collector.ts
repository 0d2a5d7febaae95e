import { networks } from '#kernel/primitives/network.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import type { NewOrder } from '#orders/order/order.store.ts';
import { afterPayment, type PaymentOutcome, type WantedPayment } from '#orders/paying/after-payment.ts';
import { type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import type { OrderWorld } from './order-world.ts';
import { findOrder } from './paying/foretell.ts';

/** A customer whose coins begin with the first sat of a block. */
export class Collector {
  readonly world: OrderWorld;
  readonly order: NewOrder;
  readonly amount: number;
  /** The first sats of the coins that `special` returned. */
  readonly sats: number[] = [];
  /**
   * The outcome predicted with the last payment that was sent while the order accepted money; `null` if none was sent
   * then.
   */
  foretold: PaymentOutcome | null = null;
  /** Number of outputs that were sent to the order. */
  #sent = 0;
  /** The sats of coins and payments, by outpoint. */
  readonly #ranges = new Map<string, readonly SatRange[]>();

  constructor(world: OrderWorld, order: NewOrder) {
    this.world = world;
    this.order = order;
    this.amount = Number(order.amount);
  }

  async special(): Promise<Coin> {
    const { coin, first } = await this.#coinbase();
    this.sats.push(first);
    return coin;
  }

  /** A coin, and its first sat, which is the first of its block. */
  async #coinbase(): Promise<{ coin: Coin; first: number }> {
    const coin = await this.world.chain.coin();
    const block = await this.world.bitcoind.rpc.call<string>('gettxout', [coin.txid, coin.vout]);
    const { confirmations } = block as unknown as { confirmations: number };
    const height = (await this.world.chain.height()) - confirmations + 1;
    const first = height * 5_000_000_000;
    this.#ranges.set(`${coin.txid}:${coin.vout}`, [{ start: first, end: first + coin.value }]);
    return { coin, first };
  }

  /** A coin that does not begin with the first sat of a block. */
  async common(): Promise<Coin> {
    const { coin, first } = await this.#coinbase();
    const split = transaction(
      [coin],
      [
        { value: 10_000, to: coin.owner },
        { value: 1_000_000, to: coin.owner },
      ],
    );
    await this.world.chain.mine([split]);
    const start = first + 10_000;
    this.#ranges.set(`${split.txid}:1`, [{ start, end: start + 1_000_000 }]);
    return split.coin(1);
  }

  /**
   * Spends coins for outputs: `paid` outputs go to the order, all others and the rest return to the owner. A fee is
   * subtracted from the rest.
   */
  async send(
    coins: readonly Coin[],
    outputs: readonly ({ paid: number } | { kept: number })[],
  ): Promise<void> {
    const owner = coins[0]!.owner;
    const made = outputs.map((output) =>
      'paid' in output
        ? { value: output.paid, outputScript: this.order.script }
        : { value: output.kept, to: owner },
    );
    const left =
      coins.reduce((sum, { value }) => sum + value, 0) - made.reduce((sum, { value }) => sum + value, 0);
    const payment = transaction(coins, [...made, { value: left - 2000, to: owner }]);
    const given = dealt(
      coins.flatMap(({ txid, vout }) => this.#ranges.get(`${txid}:${vout}`)!),
      made.map(({ value }) => value),
    );
    const paid = given.flatMap((ranges, vout) =>
      'paid' in outputs[vout]! ? [{ vout, value: BigInt(made[vout]!.value), ranges }] : [],
    );
    await this.#foretell(paid);
    for (const { vout, ranges } of paid) this.#ranges.set(`${payment.txid}:${vout}`, ranges);
    await this.world.chain.broadcast(payment);
  }

  async #foretell(coins: WantedPayment['coins']): Promise<void> {
    const found = await this.world.eventually(async () => {
      const order = await findOrder(this.world, { address: this.order.address });
      // the service sees payments a moment after they are sent
      return order.kind === 'open' && order.order.coins.length < this.#sent ? false : order;
    });
    this.#sent += coins.length;
    if (found.kind !== 'open') return;
    const there = found.order.coins.map((coin) => ({
      ...coin,
      ranges: this.#ranges.get(coin.outpoint) ?? null,
    }));
    this.foretold = afterPayment({ ...found.order, coins: there }, { coins }, regtestSatributes());
  }

  /** Waits until the order requests a payment, and returns its amount. */
  async missing(): Promise<number> {
    const { world, order } = this;
    let missing = 0;
    await world.eventually(async () => {
      const found = (await world.customerOrders.read(order.id))!;
      const answer = orderAnswer(found.order, found, networks.regtest, 'http://orders.test') as {
        missing?: number;
      };
      missing = answer.missing ?? 0;
      return missing > 0;
    });
    return missing;
  }

  mine(): Promise<unknown> {
    return this.world.chain.mineMempool();
  }

  async expire(): Promise<void> {
    await this.world.database.pool.query(
      `UPDATE service.orders SET expires_at = now() - interval '1 second' WHERE id = $1`,
      [this.order.id],
    );
    await this.world.wake(this.order.id);
  }
}

/** Distributes sats to outputs with these values, in order. */
function dealt(sats: readonly SatRange[], values: readonly number[]): SatRange[][] {
  let left = [...sats];
  return values.map((value) => {
    const given: SatRange[] = [];
    for (let wanted = value; wanted > 0; ) {
      const [{ start, end }, ...others] = left as [SatRange, ...SatRange[]];
      const taken = Math.min(wanted, end - start);
      given.push({ start, end: start + taken });
      left = start + taken < end ? [{ start: start + taken, end }, ...others] : others;
      wanted -= taken;
    }
    return given;
  });
}
