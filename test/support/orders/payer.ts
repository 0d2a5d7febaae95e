import { networks } from '#kernel/primitives/network.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import type { NewOrder } from '#orders/order/order.store.ts';
import { wakeOrder } from '#orders/order/order-wishes.store.ts';
import { type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { OrderWorld } from './order-world.ts';

/** A payment of the customer that is not in a block yet. */
export interface Unconfirmed {
  readonly coin: Coin;
  readonly txid: string;
  readonly hex: string;
}

/** The fields of an order that its payer knows. */
export type PaidOrder = Pick<NewOrder, 'id' | 'amount' | 'script'>;

/** The customer of an order. Amounts are sats. */
export class Payer {
  readonly world: OrderWorld;
  readonly order: PaidOrder;
  readonly amount: number;

  constructor(world: OrderWorld, order: PaidOrder) {
    this.world = world;
    this.order = order;
    this.amount = Number(order.amount);
  }

  /** Reads how many sats the order says are missing. */
  async missing(): Promise<number> {
    const found = await this.world.customerOrders.read(this.order.id);
    return (orderAnswer(found!.order, found!, networks.regtest, 'http://orders.test') as { missing: number })
      .missing;
  }

  /** Pays with many outputs of one transaction. */
  async payParts(count: number, value: number): Promise<void> {
    const coin = await this.world.chain.coin();
    const parts = Array.from({ length: count }, () => ({ value, outputScript: this.order.script }));
    const change = { value: coin.value - count * value - 100 * (count + 10), to: coin.owner };
    await this.world.chain.broadcast(transaction([coin], [...parts, change]));
  }

  async pay(value: number): Promise<Unconfirmed> {
    const { coin, payment } = await this.world.chain.pay(this.order.script, value);
    return { coin, txid: payment.txid, hex: payment.hex };
  }

  /** Replaces a payment with one that has a higher fee. If `value` is `null`, the sats return to their owner. */
  async replace({ coin }: Unconfirmed, value: number | null, fee = 50_000): Promise<void> {
    const paid = value === null ? [] : [{ value, outputScript: this.order.script }];
    const change = { value: coin.value - (value ?? 0) - fee, to: coin.owner };
    await this.world.chain.broadcast(transaction([coin], [...paid, change]));
  }

  /** Ends the time to pay. */
  async expire(): Promise<void> {
    // the mempool counts whole seconds, so the time ends a second ago: a payment in this second must count as later
    await this.world.database.pool.query(
      `UPDATE service.orders SET expires_at = now() - interval '1 second' WHERE id = $1`,
      [this.order.id],
    );
    await wakeOrder(this.world.database.pool, this.order.id);
  }

  until(state: string): Promise<void> {
    return this.world.until(this.order.id, state);
  }

  mine(): Promise<unknown> {
    return this.world.chain.mineMempool();
  }

  /** Pays the order, mines the payment, and waits until the node has the reveal. */
  async revealed(): Promise<Unconfirmed> {
    const payment = await this.pay(this.amount);
    await this.mine();
    await this.until('queued');
    await this.world.sent(this.order.id);
    return payment;
  }

  /** Pays the order, and waits for the delivery. */
  async delivered(): Promise<Unconfirmed> {
    const payment = await this.revealed();
    await this.mine();
    await this.until('completed');
    return payment;
  }

  /** Replaces the last blocks with one more empty block than were removed. */
  async reorganise(depth: number): Promise<void> {
    await this.world.chain.takeBack(depth);
    await this.world.chain.mineEmpty(depth + 1);
  }

  /** Sends an unconfirmed payment again, like the customer's wallet does. */
  async sendAgain({ hex }: Unconfirmed): Promise<void> {
    await this.world.chain.rpc.call('sendrawtransaction', [hex]);
  }
}
