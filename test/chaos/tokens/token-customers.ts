import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { type Random, shuffled } from '#test/builders/random.ts';
import type { Shop } from '#test/chaos/orders/shop.ts';
import type { ModelOrder } from './order-model.ts';
import type { RunRune } from './rune-purse.ts';
import type { PayingOutput, SentPayment, TokenPayments } from './token-payments.ts';

/** The ways in which customers pay. */
export const paymentCases = [
  'exact',
  'fee first',
  'in parts',
  'too little',
  'too much',
  'another rune',
  'several runes',
  'bitcoin at the token',
  'rune at the fee',
  'cenotaph',
  'minted',
  'inscribed',
  'never',
  // these cases follow from the outcome of other orders
  'late',
  'again',
  'topped up',
  'replaced',
  'regretted',
] as const;
export type PaymentCase = (typeof paymentCases)[number];
const firstCases = paymentCases.slice(0, 13);

/** An order with its outcome. */
export interface TokenCustomer extends Omit<ModelOrder, 'isOver'> {
  isOver: boolean;
  readonly number: number;
  readonly asked: RunRune;
  readonly fee: Uint8Array;
  readonly token: Uint8Array;
  /** Secret of the order's webhooks. */
  readonly secret: string;
  isPaid: boolean;
  readonly payments: SentPayment[];
}

/** A shop with a key. */
export interface RunAccount {
  readonly name: string;
  readonly shop: Shop;
}

interface MadeOrder {
  readonly id: string;
  readonly feeCharge: { readonly amount: number; readonly address: string };
  readonly tokenCharge: { readonly amountBase: string; readonly address: string };
  readonly webhookSecretToken?: string;
}

export interface TokenCustomersParts {
  readonly random: Random;
  readonly rpc: NodeRpc;
  readonly payments: TokenPayments;
  readonly accounts: readonly RunAccount[];
  readonly webhookUrl: string;
  readonly baseFee: number;
  /** Ends the time of an unpaid order. */
  readonly endTime: (id: string) => Promise<void>;
}

/** The request for an order of an account, with sats beyond its base fee. */
interface WholeWish {
  readonly account: RunAccount;
  readonly rune: RunRune;
  readonly units: bigint;
  readonly moreSats: number;
}

const runeSats = 546;
/** Time in ms after which most payments are seen. */
const seenMs = 700;
const recent = 12;

/** Customers of shops who do everything that real customers do, right or wrong. */
export class TokenCustomers {
  readonly all: TokenCustomer[] = [];
  readonly sent = new Map<PaymentCase, number>();
  readonly #parts: TokenCustomersParts;
  #cases: PaymentCase[] = [];

  constructor(parts: TokenCustomersParts) {
    this.#parts = parts;
  }

  get sentCount(): number {
    return this.all.reduce((sum, { payments }) => sum + payments.length, 0);
  }

  /**
   * Makes an order. The request is sent until it is answered, with another key if a killed process had claimed the
   * first key.
   */
  async order(rune = this.#anyRune()): Promise<TokenCustomer> {
    const { random, accounts } = this.#parts;
    const account = accounts[random.below(accounts.length)]!;
    const units = rune.mint > 0n && random.unit() < 0.7 ? rune.mint : this.#unitsOf(rune);
    return this.#make({ account, rune, units, moreSats: random.below(3) * 700 });
  }

  /** Makes an order of an account, and pays the exact amounts. */
  async payWhole(wish: WholeWish): Promise<TokenCustomer> {
    const customer = await this.#make(wish);
    await this.#payAs(customer, 'exact');
    return customer;
  }

  async #make({ account, rune, units, moreSats }: WholeWish): Promise<TokenCustomer> {
    const { webhookUrl } = this.#parts;
    const number = this.all.length;
    const body = {
      token: rune.name,
      amount: shownAmount(trustedU128(units), rune.divisibility),
      additionalFee: moreSats,
      webhookUrl: `${webhookUrl}/${number}`,
      description: `order ${number}`,
    };
    for (;;) {
      const path = '/tokenpay/user/order/rune';
      const answer = await account.shop.ask<MadeOrder>(path, body, randomUUID());
      if (answer.status === 200)
        return this.#add(answer.body, { number, rune, units, account: account.name });
      if (answer.status !== 409) throw new Error(`an order is refused: ${JSON.stringify(answer)}`);
    }
  }

  /** Pays a new order in the next of the cases. */
  async pay(): Promise<void> {
    if (this.#cases.length === 0) this.#cases = shuffled(this.#parts.random, firstCases);
    const way = this.#cases.pop()!;
    const { runes } = this.#parts.payments;
    const minted = runes.find(({ mint }) => mint > 0n);
    const customer = await this.order(way === 'minted' ? minted : undefined);
    await this.#payAs(customer, way);
  }

  /** Makes an order, and pays the exact amounts. */
  async payExactly(rune?: RunRune): Promise<TokenCustomer> {
    const customer = await this.order(rune);
    await this.#payAs(customer, 'exact');
    return customer;
  }

  /** Pays an order in any state as if nothing had been paid. */
  async payAgain(): Promise<void> {
    const customer = this.#any(({ isPaid, isOver }) => isPaid && !isOver);
    if (customer !== null) await this.#send(customer, 'again', whole(customer));
  }

  /** Pays an order again, with more than half of its amounts, because an earlier payment may have been too little. */
  async topUp(): Promise<void> {
    const customer = this.#any(({ isPaid }) => isPaid);
    if (customer !== null)
      await this.#send(customer, 'topped up', [
        tokenOf(customer, 1n + customer.amount / 2n),
        feeOf(customer, Math.ceil(Number(customer.feeAmount) / 2)),
      ]);
  }

  /** Ends the time of an order before it is paid, and then pays all of it. */
  async payLate(): Promise<void> {
    const customer = this.#any(({ isPaid, isOver }) => !isPaid && !isOver) ?? (await this.order());
    await this.#parts.endTime(customer.id);
    customer.isOver = true;
    await this.#send(customer, 'late', whole(customer));
  }

  /** Replaces one of the last payments by a payment of as much, or of less. */
  async replace(): Promise<void> {
    const customer = this.#any(({ payments }) => payments.length > 0);
    if (customer === null) return;
    const place = this.#parts.random.below(customer.payments.length);
    const before = customer.payments[place]!;
    const isLess = this.#parts.random.unit() < 0.5;
    const outputs = before.outputs.map((output) => (isLess ? lessOf(output) : output));
    const made = await this.#parts.payments.replace(before, outputs);
    if (made === null) return;
    this.#count('replaced');
    customer.payments[place] = made;
  }

  /** Makes an order, pays it, and takes the payment back after it was seen. */
  async regret(): Promise<void> {
    const customer = await this.payExactly();
    await delay(seenMs);
    const [payment] = customer.payments;
    if (payment === undefined) return;
    if ((await this.#parts.payments.replace(payment, [])) === null) return;
    this.#count('regretted');
    customer.payments.pop();
  }

  async #payAs(customer: TokenCustomer, way: PaymentCase): Promise<void> {
    const { random, payments } = this.#parts;
    const { amount, asked, token, fee } = customer;
    const other = payments.runes.find((rune) => rune !== asked)!;
    const half = amount / 2n;
    const feeSats = Number(customer.feeAmount);
    const sends: Readonly<Record<string, () => Promise<unknown>>> = {
      exact: () => this.#send(customer, way, whole(customer)),
      'fee first': async () => {
        await this.#send(customer, way, [feeOf(customer, feeSats)]);
        await this.#send(customer, way, [tokenOf(customer, amount)]);
      },
      'in parts': async () => {
        if (half > 0n) await this.#send(customer, way, [tokenOf(customer, half)]);
        await this.#send(customer, way, [feeOf(customer, feeSats - 1_000)]);
        await this.#send(customer, way, [tokenOf(customer, amount - half), feeOf(customer, 1_000)]);
      },
      'too little': () =>
        this.#send(
          customer,
          way,
          random.unit() < 0.5 && amount > 1n
            ? [tokenOf(customer, amount - 1n), feeOf(customer, feeSats)]
            : [tokenOf(customer, amount), feeOf(customer, feeSats - 1)],
        ),
      'too much': () =>
        this.#send(customer, way, [
          tokenOf(customer, amount + 1n + BigInt(random.below(50))),
          feeOf(customer, feeSats + 1 + random.below(2_000)),
        ]),
      'another rune': () =>
        this.#send(customer, way, [
          { value: runeSats, outputScript: token, units: [[other, this.#unitsOf(other)]] },
          feeOf(customer, feeSats),
        ]),
      'several runes': () =>
        this.#send(customer, way, [
          {
            value: runeSats,
            outputScript: token,
            units: [
              [asked, amount],
              [other, 7n],
            ],
          },
          feeOf(customer, feeSats),
        ]),
      'bitcoin at the token': () =>
        this.#send(customer, way, [{ value: 5_000 + random.below(9_000), outputScript: token }]),
      'rune at the fee': () =>
        this.#send(customer, way, [
          { value: runeSats, outputScript: fee, units: [[asked, amount]] },
          tokenOf(customer, amount),
        ]),
      cenotaph: () => this.#send(customer, way, [tokenOf(customer, amount)], { isCenotaph: true }),
      minted: () =>
        this.#send(customer, way, [{ value: runeSats, outputScript: token }, feeOf(customer, feeSats)], {
          mint: asked,
        }),
      inscribed: async () => {
        customer.isPaid = true;
        const isSent = await payments.inscribe(`order ${customer.number}`, {
          value: 5_000,
          outputScript: random.unit() < 0.5 ? token : fee,
        });
        if (isSent) this.#count(way);
      },
      never: async () => this.#count(way),
    };
    await sends[way]?.();
  }

  async #send(
    customer: TokenCustomer,
    way: PaymentCase,
    outputs: readonly PayingOutput[],
    kind: SentPayment['kind'] = {},
  ): Promise<void> {
    // ignore the node's answer here, because the answer may be lost
    customer.isPaid = true;
    const made = await this.#parts.payments.send(outputs, kind);
    if (made === null) return;
    customer.payments.push(made);
    this.#count(way);
  }

  #count(way: PaymentCase): void {
    this.sent.set(way, (this.sent.get(way) ?? 0) + 1);
  }

  async #add(
    { id, feeCharge, tokenCharge, webhookSecretToken = '' }: MadeOrder,
    made: {
      readonly number: number;
      readonly rune: RunRune;
      readonly units: bigint;
      readonly account: string;
    },
  ): Promise<TokenCustomer> {
    const { number, rune, units, account } = made;
    if (BigInt(tokenCharge.amountBase) !== units)
      throw new Error(`${units} units are asked for, and the order has ${tokenCharge.amountBase}`);
    const [fee, token] = [await this.#scriptOf(feeCharge.address), await this.#scriptOf(tokenCharge.address)];
    const customer: TokenCustomer = {
      id,
      number,
      account,
      asked: rune,
      rune: rune.etching,
      amount: units,
      feeAmount: BigInt(feeCharge.amount),
      baseFee: BigInt(this.#parts.baseFee),
      feeScript: Buffer.from(fee).toString('hex'),
      tokenScript: Buffer.from(token).toString('hex'),
      fee,
      token,
      secret: webhookSecretToken,
      isOver: false,
      isPaid: false,
      payments: [],
    };
    this.all.push(customer);
    return customer;
  }

  async #scriptOf(address: string): Promise<Uint8Array> {
    const { scriptPubKey } = await this.#parts.rpc.call<{ scriptPubKey: string }>('validateaddress', [
      address,
    ]);
    return Buffer.from(scriptPubKey, 'hex');
  }

  #anyRune(): RunRune {
    const { runes } = this.#parts.payments;
    return runes[this.#parts.random.below(runes.length)]!;
  }

  /** A number of units from 1 to the maximum, with any number of digits. */
  #unitsOf({ most }: RunRune): bigint {
    const { random } = this.#parts;
    const bits = BigInt(random.below(most.toString(2).length));
    const drawn = (1n << bits) + (BigInt(random.u32()) % (1n << bits));
    return drawn < most ? drawn : most;
  }

  #any(isSo: (customer: TokenCustomer) => boolean): TokenCustomer | null {
    const found = this.all.slice(-recent).filter(isSo);
    return found[this.#parts.random.below(Math.max(1, found.length))] ?? null;
  }
}

const tokenOf = ({ token, asked }: TokenCustomer, units: bigint): PayingOutput => ({
  value: runeSats,
  outputScript: token,
  units: [[asked, units]],
});

const feeOf = ({ fee }: TokenCustomer, value: number): PayingOutput => ({ value, outputScript: fee });

const whole = (customer: TokenCustomer): readonly PayingOutput[] => [
  tokenOf(customer, customer.amount),
  feeOf(customer, Number(customer.feeAmount)),
];

/** A smaller amount of an output, which may be too little. */
function lessOf({ value, outputScript, units = [] }: PayingOutput): PayingOutput {
  const fewer = units.map(([rune, amount]) => [rune, amount > 1n ? amount - 1n : amount] as const);
  return { value: Math.max(runeSats, value - 1_000), outputScript, units: fewer };
}
