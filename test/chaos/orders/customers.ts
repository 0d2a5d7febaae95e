import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Random } from '#test/builders/random.ts';
import {
  type Coin,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import type { OrderOfTest } from '#test/support/orders/order-verdict.ts';
import { etchingWishOf } from './etching-wishes.ts';
import { itemWishOf, type OrderedItems } from './item-wishes.ts';
import { type MintedRune, mintWishOf } from './minted-runes.ts';
import { nextKinds, type OrderKind, type OrderWish, wishOf } from './order-wishes.ts';
import type { LentParent } from './parents.ts';
import type { Purse } from './purse.ts';
import type { Shop } from './shop.ts';

/** A payment of a customer with any outcome. */
interface SentPayment {
  readonly coin: Coin;
  readonly value: number;
  readonly fee: number;
  readonly made: RegtestTransaction;
}

export interface Customer extends OrderOfTest {
  readonly kind: OrderKind;
  /** `null` if the order has no parent. */
  readonly parent: LentParent | null;
  /** Transactions that bring the parent. They all spend the same outputs. */
  readonly lent: RegtestTransaction[];
  readonly script: Uint8Array;
  readonly amount: number;
  /** Satributes of the sats on which the order may be inscribed; `null` means any. */
  readonly allowed: readonly string[] | null;
  /** Items of a collection that the order has. `null` if the order has its own contents. */
  readonly items: OrderedItems | null;
  /** The name that the order etches; `null` if it etches no rune. */
  readonly rune: string | null;
  /** The newest version of each payment. */
  readonly payments: SentPayment[];
}

/** Ways to divide an amount into payments. */
const ways: readonly ((amount: number) => readonly number[])[] = [
  (amount) => [amount],
  (amount) => [amount],
  (amount) => [800, 800, amount - 1600],
  (amount) => [amount + 1],
  (amount) => [amount + 300],
  (amount) => [amount + 40_000],
  (amount) => [amount + 100_000_000],
  (amount) => [amount, amount],
  (amount) => [329, amount],
  (amount) => [amount - 1],
  (amount) => [amount - 1200],
  () => [],
];

/** Number of dust outputs in one transaction of a stranger. */
const dustAtOnce = 30;
const dustFee = 3000;
/** Maximum fee rate in sat/vB. It is above all estimates of the nodes of tests. */
const dearestFee = 40;
const paymentFee = 1000;
/** Time in ms after which most payments are seen. */
const seenMs = 700;
/** Fee of a replacement in sats. It is higher than the fees of a payment and of our reveal that spends the payment. */
const replacementFee = 60_000;
/** Number of the newest customers whose payments are sent again, because they may not be mined yet. */
const sentAgainMax = 60;
/**
 * Maximum number of attempts to order sats of a type, if no sats of this type are left. Other orders may return some
 * between the attempts. After these attempts, the order is made without the type.
 */
const takenTries = 3;
const takenMs = 200;
/**
 * Maximum number of attempts to order items that others have, or items of a full sale. After these attempts, something
 * else is ordered.
 */
const itemTries = 3;

const hexOfBytes = (script: Uint8Array): string => Buffer.from(script).toString('hex');

interface Made {
  readonly id: string;
  /** Present in orders of sats of the inventory. Null in managed orders without such sats. */
  readonly rareSats?: string | null;
  readonly state: string;
  readonly charge: { readonly amount: number; readonly address: string };
  /** Sats that one more payment must bring. Present if an order is read. */
  readonly missing?: number;
  readonly parents?: readonly { readonly depositAddress: string }[];
  /** Items of a collection. Absent if the order is not for a collection. */
  readonly collection?: { readonly id: string; readonly items: readonly number[] };
}

export interface CustomersParts {
  readonly random: Random;
  readonly rpc: NodeRpc;
  readonly purse: Purse;
  readonly shop: Shop;
  /** The URL to which orders send their states. */
  readonly webhookUrl: string;
  readonly seed: string;
  /** The script of the inventory. */
  readonly inventory: Uint8Array;
  /** Inscriptions that customers lend. */
  readonly parents: LentParent[];
  /** Runes that customers mint. */
  readonly runes: readonly MintedRune[];
}

/** Customers who do everything that real customers do, right or wrong. */
export class Customers {
  readonly all: Customer[] = [];
  payments = 0;
  replaced = 0;
  cancelled = 0;
  /** Number of refused orders of items. Others had these items, or half of the remaining items. */
  refusedItems = 0;
  /** Number of refused orders of mints. Others had used up the mints. */
  refusedMints = 0;
  /** Number of outputs from a stranger. */
  dust = 0;
  /** Sats from a stranger, by order. Returning them may cost more than they are worth. */
  readonly dustOf = new Map<string, number>();
  readonly #parts: CustomersParts;
  #made = 0;
  #kinds: OrderKind[] = [];

  constructor(parts: CustomersParts) {
    this.#parts = parts;
  }

  /** Orders sats of the inventory, and pays the exact amount. */
  async buyStock(): Promise<void> {
    const customer = await this.order(this.#parts.random.unit() < 0.5 ? 'special sat' : 'special sats');
    await this.#send(customer, customer.amount);
  }

  /** Orders items of the collection that does not sell out. Pays the exact amount, or cancels the order. */
  async buyItems(isPaid: boolean): Promise<void> {
    const customer = await this.order('items', 'many');
    if (isPaid) await this.#send(customer, customer.amount);
    else await this.#cancel(customer);
  }

  /** Makes an order, and pays the exact amount. */
  async payExactly(kind: OrderKind = 'direct'): Promise<void> {
    const customer = await this.order(kind);
    await this.#send(customer, customer.amount);
  }

  /** Makes an order whose parent arrives, but that is not paid. */
  async lendInVain(): Promise<Customer> {
    const customer = await this.order('children');
    await this.#lend(customer, false);
    return customer;
  }

  /** Makes an order. The request is sent until it is answered. */
  async order(kind = this.#nextKind(), from: 'any' | 'many' = 'any'): Promise<Customer> {
    const { random, seed, webhookUrl, parents } = this.#parts;
    const number = this.#made++;
    const toldAt = `${webhookUrl}/${number}`;
    if (kind === 'items') {
      const wish = itemWishOf(random, number, from);
      const made = await this.#createdItems(wish, toldAt);
      if (made !== null) return this.#add(wish, made);
      this.refusedItems++;
    }
    if (kind === 'mints') {
      const wish = mintWishOf(random, number, this.#parts.runes);
      const made = await this.#createdItems(wish, toldAt);
      if (made !== null) return this.#add(wish, made);
      this.refusedMints++;
    }
    if (kind === 'etching') {
      const etching = etchingWishOf(random, seed, number);
      return this.#add(etching, await this.#created(etching, toldAt));
    }
    const parent = kind === 'children' ? (parents.pop() ?? null) : null;
    const wish = wishOf(kind === 'items' || kind === 'mints' ? 'direct' : kind, {
      random,
      seed,
      number,
      parent,
    });
    return this.#add(wish, await this.#created(wish, toldAt));
  }

  async #add(wish: OrderWish, { id, charge, rareSats = null, collection }: Made): Promise<Customer> {
    const { shop, inventory } = this.#parts;
    const shown = (await shop.ask<Made>(`/order/${id}`, null)).body;
    const deposits = await Promise.all(
      (shown.parents ?? []).map(async ({ depositAddress }) =>
        hexOfBytes(await this.#scriptOf(depositAddress)),
      ),
    );
    const { kind, contents, receivers, refund, home, allowed, parent, rune = null } = wish;
    const customer: Customer = {
      id,
      kind: rareSats === null && wish.rareSats !== null ? 'direct' : kind,
      contents,
      receivers,
      refund,
      parent,
      rune,
      lent: [],
      ...(parent === null ? {} : { parents: { deposits, home } }),
      script: await this.#scriptOf(shown.charge.address),
      inventory: hexOfBytes(inventory),
      amount: charge.amount,
      allowed: rareSats === null ? allowed : [rareSats],
      items: collection === undefined ? null : { collection: collection.id, numbers: collection.items },
      payments: [],
    };
    this.all.push(customer);
    return customer;
  }

  #nextKind(): OrderKind {
    if (this.#kinds.length === 0) this.#kinds = nextKinds(this.#parts.random);
    return this.#kinds.pop()!;
  }

  async #scriptOf(address: string): Promise<Uint8Array> {
    const { scriptPubKey } = await this.#parts.rpc.call<{ scriptPubKey: string }>('validateaddress', [
      address,
    ]);
    return Buffer.from(scriptPubKey, 'hex');
  }

  /**
   * Sends the request for an order with the same key until it is answered. If the process that had claimed the key
   * died, the key is given up, because the order was not made. If too few sats of a type are left, orders without the
   * type. If burns cost more than the offered fee, orders at twice the fee rate.
   */
  async #created({ path, body, rareSats }: OrderWish, webhookUrl: string): Promise<Made> {
    let { fee } = body;
    let wanted = rareSats;
    for (let taken = 0; ; ) {
      const stocked = wanted === null ? {} : { rareSats: wanted };
      const asked = { ...body, webhookUrl, fee, ...stocked };
      const answer = await this.#parts.shop.ask<Made>(path, asked, randomUUID());
      if (answer.status === 200) return answer.body;
      if (wanted !== null) {
        // other orders may have returned some sats
        if (answer.status === 400 || taken++ === takenTries) wanted = null;
        await delay(takenMs);
      } else if (answer.status === 400) {
        fee = dearer(body, fee, answer);
      } else if (answer.status !== 409) throw refusedWith(answer);
    }
  }

  /**
   * Makes an order of items or mints. `null` if others have these items or mints, if unpaid orders have half of the
   * rest, or if nothing is left.
   */
  async #createdItems({ path, body }: OrderWish, webhookUrl: string): Promise<Made | null> {
    for (let tries = 0; tries < itemTries; tries++) {
      const answer = await this.#parts.shop.ask<Made>(path, { ...body, webhookUrl }, randomUUID());
      if (answer.status === 200) return answer.body;
      // 409 may also mean that a process died that had claimed the key
      if (answer.status !== 400 && answer.status !== 409) throw refusedWith(answer);
      await delay(takenMs);
    }
    return null;
  }

  /** Pays an order in one of the ways. */
  async pay(customer: Customer): Promise<void> {
    const { random } = this.#parts;
    // send the parent and the payment in one transaction, like wallets do
    if (customer.parent !== null && random.unit() < 0.6) return this.#lend(customer, true);
    if (customer.parent !== null && random.unit() < 0.8) await this.#lend(customer, false);
    const values = ways[random.below(ways.length)]?.(customer.amount) ?? [];
    for (const value of values) await this.#send(customer, value);
  }

  /** Sends one more payment, to an order in any state. */
  async payAgain(): Promise<void> {
    const customer = this.#any();
    if (customer !== null) await this.#send(customer, customer.amount - this.#parts.random.below(1500));
  }

  /** Pays the amount that an order says is missing. */
  async topUp(): Promise<void> {
    const short = this.all.filter(({ amount, payments }) => {
      const paid = payments.reduce((sum, { value }) => sum + value, 0);
      return paid > 0 && paid < amount;
    });
    const customer = short[this.#parts.random.below(Math.max(1, short.length))];
    if (customer === undefined) return;
    const { missing } = (await this.#parts.shop.ask<Made>(`/order/${customer.id}`, null)).body;
    if (missing !== undefined) await this.#send(customer, missing);
  }

  /** Sends dust from a stranger to some of the addresses that were ever shown, in one transaction. */
  async sendDust(): Promise<void> {
    const { random, purse } = this.#parts;
    if (this.all.length === 0) return;
    const outputs = Array.from({ length: 1 + random.below(dustAtOnce) }, () => {
      const { id, script } = this.#any() ?? this.all[0]!;
      return { id, value: 330 + random.below(40), outputScript: script };
    });
    const sent = outputs.reduce((sum, { value }) => sum + value, 0);
    const coin = await purse.take(sent + dustFee + 1000);
    if (coin === null) return;
    const made = transaction([coin], [...outputs, { value: coin.value - sent - dustFee, to: coin.owner }]);
    if (!(await this.#broadcast(made))) return;
    this.dust += outputs.length;
    for (const { id, value } of outputs) this.dustOf.set(id, (this.dustOf.get(id) ?? 0) + value);
    purse.keep(made.coin(outputs.length));
  }

  /** Replaces one of the last payments by a payment of as much, of less, or to someone else. */
  async replace(): Promise<void> {
    const { random } = this.#parts;
    const recent = this.all.slice(-6).filter(({ payments }) => payments.length > 0);
    const customer = recent[random.below(Math.max(1, recent.length))];
    if (customer === undefined) return;
    const place = random.below(customer.payments.length);
    const before = customer.payments[place]!;
    const way = random.below(3);
    const value = way === 0 ? before.value : way === 1 ? Math.max(330, before.value - 700) : 0;
    const made = paymentOf(customer, before.coin, value, replacementFee);
    if (!(await this.#broadcast(made))) return;
    this.replaced++;
    this.#parts.purse.keep(made.coin(value === 0 ? 0 : 1));
    if (value === 0) customer.payments.splice(place, 1);
    else customer.payments[place] = { coin: before.coin, value, fee: replacementFee, made };
  }

  /** Makes an order, pays it, and takes the payment back after it was seen. */
  async regret(): Promise<void> {
    const customer = await this.order();
    await this.#send(customer, customer.amount);
    await delay(seenMs);
    const [payment] = customer.payments;
    if (payment === undefined) return;
    const made = paymentOf(customer, payment.coin, 0, replacementFee);
    if (!(await this.#broadcast(made))) return;
    this.replaced++;
    this.#parts.purse.keep(made.coin(0));
    customer.payments.pop();
  }

  /** Requests to cancel an order, which may be paid. */
  async cancel(): Promise<void> {
    const customer = this.#any();
    if (customer !== null) await this.#cancel(customer);
  }

  async #cancel({ id }: Customer): Promise<void> {
    const { status } = await this.#parts.shop.ask('/order/cancel', { id });
    if (status === 200) this.cancelled++;
  }

  /** Sends unconfirmed transactions again, like wallets do. Some are never sent again. */
  async sendAgain(share: number): Promise<void> {
    for (const { payments, lent } of this.all.slice(-sentAgainMax)) {
      for (const made of [...lent, ...payments.map((payment) => payment.made)]) {
        if (this.#parts.random.unit() < share) await this.#broadcast(made);
      }
    }
  }

  /** Sends an order's parent, and perhaps its payment. */
  async #lend(customer: Customer, isPaid: boolean): Promise<void> {
    const { parent, parents, lent, payments, amount } = customer;
    const coin = await this.#parts.purse.take(amount + replacementFee + 1000);
    if (coin === null || parent === null) return;
    const deposit = { value: parent.coin.value, outputScript: Buffer.from(parents!.deposits[0]!, 'hex') };
    const value = isPaid ? amount : 0;
    const charge = isPaid ? [{ value, outputScript: customer.script }] : [];
    const change = { value: coin.value - value - paymentFee, to: coin.owner };
    const made = transaction([parent.coin, coin], [deposit, ...charge, change]);
    if (!(await this.#broadcast(made))) return;
    lent.push(made);
    this.#parts.purse.keep(made.coin(charge.length + 1));
    if (!isPaid) return;
    this.payments++;
    payments.push({ coin, value, fee: paymentFee, made });
  }

  #any(): Customer | null {
    const last = this.all.slice(-12);
    return last[this.#parts.random.below(Math.max(1, last.length))] ?? null;
  }

  async #send(customer: Customer, value: number): Promise<void> {
    const coin = await this.#parts.purse.take(value + replacementFee + 1000);
    if (coin === null) return;
    const made = paymentOf(customer, coin, value, paymentFee);
    if (!(await this.#broadcast(made))) return;
    this.payments++;
    customer.payments.push({ coin, value, fee: paymentFee, made });
    this.#parts.purse.keep(made.coin(1));
  }

  /** Sends a transaction to the node. False if the node refuses the transaction. */
  async #broadcast({ hex }: RegtestTransaction): Promise<boolean> {
    try {
      await this.#parts.rpc.call('sendrawtransaction', [hex, 0]);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'node_call_failed') return false;
      throw error;
    }
  }
}

/** Twice the fee rate of an order that burns. Throws if the fee rate is not the reason for the refusal. */
function dearer(body: OrderWish['body'], fee: number, answer: object): number {
  if (fee >= dearestFee || !('burnAfterInscribe' in body)) throw refusedWith(answer);
  return fee * 2;
}

const refusedWith = (answer: object): Error => new Error(`an order is refused: ${JSON.stringify(answer)}`);

/** A payment. If `value` is 0, everything returns to its owner. */
function paymentOf({ script }: Customer, coin: Coin, value: number, fee: number): RegtestTransaction {
  const change = { value: coin.value - value - fee, to: coin.owner };
  return transaction([coin], value === 0 ? [change] : [{ value, outputScript: script }, change]);
}
