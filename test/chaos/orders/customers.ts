import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Random } from '#test/builders/random.ts';
import {
  addressOf,
  type Coin,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import type { OrderOfTest } from '#test/support/orders/order-verdict.ts';
import type { Purse } from './purse.ts';
import type { Shop } from './shop.ts';

/** A payment of a customer, whatever became of it. */
interface SentPayment {
  readonly coin: Coin;
  readonly value: number;
  readonly fee: number;
  readonly made: RegtestTransaction;
}

export interface Customer extends OrderOfTest {
  readonly script: Uint8Array;
  readonly amount: number;
  /** Satributes of the sats that it may be inscribed on; null: any. */
  readonly allowed: readonly string[] | null;
  /** The newest version of each. */
  readonly payments: SentPayment[];
}

/** What customers pay of an amount, in parts. */
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

/** What orders may allow: every coin of the purse is of an early block, and a few begin with the first sat of one. */
const allowances: readonly (readonly string[])[] = [['vintage'], ['uncommon']];

/** Pieces of dust in one transaction of a stranger. */
const dustAtOnce = 30;
const dustFee = 3000;
/** More than nodes of tests estimate, in sat/vB. */
const dearestFee = 40;
const paymentFee = 1000;
/** Until a payment is seen, mostly. */
const seenMs = 700;
/** More than a payment and our reveal that spends it pay together. */
const replacementFee = 60_000;
/** Customers whose payments may not be mined yet. */
const sentAgainMax = 60;
const firstOwner = 20_000;
/** What burned inscriptions lie on. */
const opReturn = '6a';

/** What the inventory of a run has: every sat of an early block. */
const stockType = 'vintage';

const hexOfBytes = (script: Uint8Array): string => Buffer.from(script).toString('hex');

interface Made {
  readonly id: string;
  /** Of an order of a sat of the inventory. */
  readonly rareSats?: string;
  readonly state: string;
  readonly charge: { readonly amount: number; readonly address: string };
  /** Of a read: sats that one more payment must bring. */
  readonly missing?: number;
}

export interface CustomersParts {
  readonly random: Random;
  readonly rpc: NodeRpc;
  readonly purse: Purse;
  readonly shop: Shop;
  /** Whom orders tell of their states. */
  readonly webhookUrl: string;
  readonly seed: string;
  /** Where the inventory lies. */
  readonly inventory: Uint8Array;
}

/** Customers who do everything that customers do, right or wrong. */
export class Customers {
  readonly all: Customer[] = [];
  payments = 0;
  replaced = 0;
  cancelled = 0;
  /** Outputs of a stranger. */
  dust = 0;
  /** Sats of a stranger, by order: they may not be worth sending back. */
  readonly dustOf = new Map<string, number>();
  readonly #parts: CustomersParts;
  #made = 0;

  constructor(parts: CustomersParts) {
    this.#parts = parts;
  }

  /** An order of a sat of the inventory, paid to the sat. */
  async buyStock(): Promise<void> {
    const customer = await this.order(true);
    await this.#send(customer, customer.amount);
  }

  /** Makes an order; its creation is sent until it is answered. */
  async order(isStocked = this.#parts.random.unit() < 0.15): Promise<Customer> {
    const { random, shop, seed, webhookUrl, inventory } = this.#parts;
    const number = this.#made++;
    const files = isStocked ? 1 : 1 + random.below(3);
    const contents = Array.from({ length: files }, (_, file) => `${seed} ${number} ${file}`);
    const owner = firstOwner + 2 * number;
    const { burning, chosen, others } = wishesOf(random, isStocked, files);
    const body = {
      files: contents.map((content, file) => ({
        name: `${file}.txt`,
        size: content.length,
        dataURL: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
      })),
      receiveAddress: addressOf(owner),
      refundAddress: addressOf(owner + 1),
      fee: 2,
      webhookUrl: `${webhookUrl}/${number}`,
      ...others,
      ...burning,
    };
    const { id, charge, rareSats } = await this.#created(body, isStocked ? stockType : null);
    const { charge: shown } = (await shop.ask<Made>(`/order/${id}`, null)).body;
    const { scriptPubKey } = await this.#parts.rpc.call<{ scriptPubKey: string }>('validateaddress', [
      shown.address,
    ]);
    const hexOf = (of: number): string => hexOfBytes(scriptOf(of));
    const customer = {
      id,
      contents,
      receiver: 'burnAfterInscribe' in burning ? opReturn : hexOf(owner),
      refund: hexOf(owner + 1),
      script: Buffer.from(scriptPubKey, 'hex'),
      inventory: hexOfBytes(inventory),
      amount: charge.amount,
      allowed: rareSats === undefined ? chosen : [rareSats],
      payments: [],
    };
    this.all.push(customer);
    return customer;
  }

  /**
   * With the same key until it is answered; a key whose maker died is left alone, as its order was not made. Where no
   * sat of a type is left, it is ordered without; where burns cost more than was offered, at twice the rate.
   */
  async #created(body: object & { readonly fee: number }, rareSats: string | null): Promise<Made> {
    let { fee } = body;
    for (let wanted = rareSats; ; ) {
      const key = randomUUID();
      const asked = { ...body, fee, ...(wanted === null ? {} : { rareSats: wanted }) };
      const answer = await this.#parts.shop.ask<Made>('/inscribe', asked, key);
      if (answer.status === 200) return answer.body;
      if (answer.status === 400 && wanted !== null) wanted = null;
      else if (answer.status === 400 && fee < dearestFee && 'burnAfterInscribe' in body) fee *= 2;
      else if (answer.status !== 409) throw new Error(`an order is refused: ${JSON.stringify(answer)}`);
    }
  }

  /** Pays an order in one of the ways. */
  async pay(customer: Customer): Promise<void> {
    const { random } = this.#parts;
    const values = ways[random.below(ways.length)]?.(customer.amount) ?? [];
    for (const value of values) await this.#send(customer, value);
  }

  /** A payment more, to an order of any state. */
  async payAgain(): Promise<void> {
    const customer = this.#any();
    if (customer !== null) await this.#send(customer, customer.amount - this.#parts.random.below(1500));
  }

  /** Pays what an order says is missing. */
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

  /** A stranger sends dust to some of the addresses that were ever shown, in one transaction. */
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

  /** Replaces one of the last payments: by as much, by less, or by one to somebody else. */
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

  /** Pays, and takes it back once it was seen. */
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

  /** Wants an order cancelled, perhaps one that is paid. */
  async cancel(): Promise<void> {
    const customer = this.#any();
    if (customer === null) return;
    const { status } = await this.#parts.shop.ask('/order/cancel', { id: customer.id });
    if (status === 200) this.cancelled++;
  }

  /** Wallets send again what is in no block; some never do. */
  async sendAgain(share: number): Promise<void> {
    for (const { payments } of this.all.slice(-sentAgainMax)) {
      for (const { made } of payments) {
        if (this.#parts.random.unit() < share) await this.#broadcast(made);
      }
    }
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

  /** False: the node refuses it. */
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

/**
 * What an order asks for beside its files. A sat of the inventory is for one that is neither burned nor chooses its
 * own.
 */
function wishesOf(random: Random, isStocked: boolean, files: number) {
  // at a rate that nodes of tests do not estimate more than
  const burning = !isStocked && random.unit() < 0.2 ? { burnAfterInscribe: true, fee: 10 } : {};
  const isChoosing = !('burnAfterInscribe' in burning) && random.unit() < 0.3;
  const chosen = isChoosing && !isStocked ? allowances[random.below(allowances.length)]! : null;
  const others = {
    // an input costs more than most dust brings; more would take what nodes estimate beyond the rate of burns
    ...(random.unit() < 0.3 ? { fee: 6 } : {}),
    // a commit and a reveal a file
    ...(files > 1 && random.unit() < 0.5 ? { uncurseIt: true } : {}),
    ...(random.unit() < 0.15 ? { inscriptionIdPrefix: 'ab' } : {}),
    ...(chosen === null ? {} : { allowedSatributes: chosen }),
  };
  return { burning, chosen, others };
}

/** `value` 0: all of it goes back to its owner. */
function paymentOf({ script }: Customer, coin: Coin, value: number, fee: number): RegtestTransaction {
  const change = { value: coin.value - value - fee, to: coin.owner };
  return transaction([coin], value === 0 ? [change] : [{ value, outputScript: script }, change]);
}
