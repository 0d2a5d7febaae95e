import type { WantedOrder } from '#orders/creating/create-order.ts';
import { showFunds } from '#orders/operator/operator-funds.ts';
import { putReferral } from '#orders/referrals/referral.store.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import type { OrderWorld } from './order-world.ts';

export interface Partner {
  readonly code: string;
  readonly owner: number;
}

/** How many sats of the base fee a referral gets for each order. */
export const commission = 300;

/** An order with a referral. The referral gets `commission` and the customer's additional fee. */
export const referredOrder = (text: string, referral: string, additional: number): WantedOrder => {
  const order = wantedOrder([text], { additionalFee: BigInt(additional) });
  return {
    ...order,
    request: { ...order.request, referral, additionalFee: additional },
    quote: { ...order.quote, additionalFeeCharged: additional, referralFee: commission },
  };
};

/** An order that sells an item of a collection. The item's creator gets `price`. */
const soldOrder = (text: string, address: string, price: number): WantedOrder => {
  const order = wantedOrder([text], { additionalFee: BigInt(price) });
  return { ...order, quote: { ...order.quote, creator: { address, price } } };
};

/** Partners of a world, who earn shares when orders are delivered. */
export class Partners {
  readonly #world: OrderWorld;
  readonly #firstOwner: number;
  #registered = 0;
  #ordered = 0;

  /** @param firstOwner number of the first partner's owner; each further partner has the next number */
  constructor(world: OrderWorld, firstOwner: number) {
    this.#world = world;
    this.#firstOwner = firstOwner;
  }

  /** Registers a code with its own address, or with the address of another code. */
  async register(
    owner = this.#firstOwner + this.#registered,
    code = `partner-${String(this.#registered).padStart(2, '0')}`,
  ): Promise<Partner> {
    this.#registered++;
    const { pool } = this.#world.database;
    await putReferral(pool, { code, address: addressOf(owner), script: scriptOf(owner) });
    return { code, owner };
  }

  /** Delivers an order of the partner, and mines more blocks. The partner earns `commission` and the additional fee. */
  async deliver({ code }: Partner, additional: number, deep: number): Promise<void> {
    await this.#deliver(referredOrder(`${code} ${this.#ordered++}`, code, additional), deep);
  }

  /** Delivers an item to its buyer, and mines more blocks. The item's creator earns the price. */
  async sell(creator: string, price: number, deep: number): Promise<void> {
    await this.#deliver(soldOrder(`${creator} ${this.#ordered++}`, creator, price), deep);
  }

  async #deliver(wanted: WantedOrder, deep: number): Promise<void> {
    const world = this.#world;
    const { order } = await world.customerOrders.create(wanted);
    await world.chain.pay(order.script, Number(order.amount));
    await world.until(order.id, 'waiting-confirmation');
    await world.deliver(order.id);
    await world.chain.mineEmpty(deep - 1);
    await world.indexed();
  }

  /** Adds a coin of the operator, which is in a block. */
  async fund(value: number): Promise<void> {
    const { chain, database, wallet } = this.#world;
    const { pool } = database;
    const { address } = await showFunds(pool, wallet, proveFree(pool), async () => null);
    await chain.payAddress(address, value);
    await chain.mineMempool();
    await this.#world.indexed();
  }
}
