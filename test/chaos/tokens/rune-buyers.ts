import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { type Random, shuffled } from '#test/builders/random.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import type { Shop } from '#test/chaos/orders/shop.ts';
import type { RunRune } from './rune-purse.ts';
import type { RuneSale } from './rune-sales.ts';
import type { ModelSale, SentHalf } from './sale-model.ts';
import type { PayingOutput, SentPayment, TokenPayments } from './token-payments.ts';

/** The ways in which buyers pay for items. */
export const buyingCases = [
  'both at once',
  'rune first',
  'sats first',
  'in parts',
  'too few units',
  'too few sats',
  'another rune',
  'burned',
  'rune alone',
  'sats alone',
  'nothing',
  'cancelled',
  'cancelled with a rune',
  'late',
  'rune late',
  // these cases follow from other orders
  'topped up',
  'replaced',
  'by a stranger',
  'over',
] as const;
export type BuyingCase = (typeof buyingCases)[number];
const firstCases = buyingCases.slice(0, 15);

/** An order of items, with its outcome. */
export interface RuneBuyer extends ModelSale {
  readonly tokenOrder: string;
  readonly collection: string;
  readonly items: readonly number[];
  readonly asked: RunRune;
  readonly charge: Uint8Array;
  readonly token: Uint8Array;
  /** Scripts in hex. No other order has these scripts. */
  readonly receiver: string;
  readonly refund: string;
  isOver: boolean;
  isCancelAsked: boolean;
  isCancelled: boolean;
  /** The newest version of each payment. */
  readonly payments: SentPayment[];
  /** All versions of all payments, by txid. */
  readonly sent: Map<string, SentHalf>;
  /** Whether something is missing that the buyer will pay. */
  isShort: boolean;
}

interface MadeSale {
  readonly id: string;
  readonly collection: { readonly items: readonly number[] };
  readonly amount: number;
  readonly tokenPayCharge: {
    readonly id: string;
    readonly feeCharge: { readonly amount: number; readonly address: string };
    readonly tokenCharge: { readonly amountBase: string; readonly address: string };
  };
}

/** @param payments txids that must have been seen */
export type PassDay = (buyer: RuneBuyer, payments: readonly string[]) => Promise<boolean>;

interface RuneBuyersParts {
  readonly random: Random;
  readonly rpc: NodeRpc;
  readonly payments: TokenPayments;
  readonly shop: Shop;
  readonly sales: readonly RuneSale[];
  /** Lets a day pass for an order. False if the service has not seen all of these payments yet. */
  readonly passDay: PassDay;
}

/** First owner of addresses that receive items and refunds. No other part of the run has these keys. */
const firstOwner = 70_000;
const runeSats = 546;
const recent = 8;
/** Maximum number of sales that are tried for an order. Others may have all items of a sale. */
const orderTries = 3;
const againMs = 200;
const seenWithinMs = 6_000;
const partSats = 2_000;
const dustSats = 330;

/** Buyers of items that are sold for runes. They do everything that real buyers do, right or wrong. */
export class RuneBuyers {
  readonly all: RuneBuyer[] = [];
  readonly done = new Map<BuyingCase, number>();
  /** Sats at charges, by order. Sending them back may cost more than they are worth. */
  readonly dustOf = new Map<string, number>();
  /** Number of orders that were refused, because others had what was left. */
  refused = 0;
  readonly #parts: RuneBuyersParts;
  #cases: BuyingCase[] = [];
  #owners = firstOwner;

  constructor(parts: RuneBuyersParts) {
    this.#parts = parts;
  }

  get sales(): readonly RuneSale[] {
    return this.#parts.sales;
  }

  /** Scripts of token orders in hex. */
  get tokenScripts(): ReadonlySet<string> {
    return new Set(this.all.map(({ tokenScript }) => tokenScript));
  }

  /** Cases that the run has not had yet. */
  get missing(): readonly BuyingCase[] {
    return buyingCases.filter((name) => !this.done.has(name));
  }

  /** Makes an order of any sale; `null` if the order is refused. */
  async order(): Promise<RuneBuyer | null> {
    const { random, sales, shop } = this.#parts;
    for (let tries = 0; tries < orderTries; tries++) {
      const sale = sales[random.below(sales.length)]!;
      const count = 1 + random.below(sale.items < 10 ? 2 : 3);
      const [receiver, refund] = [this.#owners++, this.#owners++];
      const body = {
        collection: { id: sale.id, ...(random.unit() < 0.3 ? this.#named(sale, count) : { count }) },
        receiveAddress: addressOf(receiver),
        refundAddress: addressOf(refund),
        fee: random.unit() < 0.3 ? 6 : 2,
        token: 'solved',
      };
      const answer = await shop.ask<MadeSale>('/collectionorder', body, randomUUID());
      if (answer.status === 200) return this.#add(sale, count, { receiver, refund }, answer.body);
      // 409 may also mean that a process died that had claimed the key
      if (answer.status !== 400 && answer.status !== 409)
        throw new Error(`an order of items is refused: ${JSON.stringify(answer)}`);
      this.refused++;
      await delay(againMs);
    }
    return null;
  }

  /** Makes an order, and pays the exact amounts. */
  async payExactly(): Promise<void> {
    const buyer = await this.order();
    if (buyer !== null) await this.#send(buyer, 'both at once', [unitsTo(buyer), satsTo(buyer)]);
  }

  /** Makes an order, and pays it in the next of the ways. */
  async buy(): Promise<void> {
    if (this.#cases.length === 0) this.#cases = shuffled(this.#parts.random, firstCases);
    const buyer = await this.order();
    if (buyer !== null) await this.#buyAs(buyer, this.#cases.pop()!);
  }

  /** Performs a random one of the things that happen to orders later. */
  async act(): Promise<void> {
    const { random } = this.#parts;
    const acts = [() => this.#topUp(), () => this.replace(), () => this.#pester(), () => this.#endTime()];
    await acts[random.below(acts.length)]?.();
  }

  /** Replaces one of the last payments by a payment of as much, of less, or of nothing. */
  async replace(): Promise<void> {
    const { random, payments } = this.#parts;
    const buyer = this.#any((each) => each.payments.length > 0);
    if (buyer === null) return;
    const place = random.below(buyer.payments.length);
    const before = buyer.payments[place]!;
    const way = random.below(3);
    const outputs = way === 0 ? before.outputs : way === 1 ? before.outputs.map(lessOf) : [];
    const made = await payments.replace(before, outputs);
    if (made === null) return;
    this.#count('replaced');
    this.#note(buyer, made);
    buyer.payments[place] = made;
  }

  async #buyAs(buyer: RuneBuyer, way: BuyingCase): Promise<void> {
    const { random, payments } = this.#parts;
    const { units, asked, token, sats } = buyer;
    const other = payments.runes.find((rune) => rune !== asked)!;
    const send = (...outputs: PayingOutput[]) => this.#send(buyer, way, outputs);
    const half = units / 2n;
    const ways: Readonly<Record<string, () => Promise<unknown>>> = {
      'both at once': () => send(unitsTo(buyer), satsTo(buyer)),
      'rune first': async () => {
        await send(unitsTo(buyer));
        await delay(random.below(1_500));
        await send(satsTo(buyer));
      },
      'sats first': async () => {
        await send(satsTo(buyer));
        await delay(random.below(1_500));
        await send(unitsTo(buyer));
      },
      'in parts': async () => {
        await send(unitsTo(buyer, half), satsTo(buyer, partSats));
        await send(unitsTo(buyer, units - half + 3n), satsTo(buyer));
      },
      'too few units': () => this.#sendShort(buyer, way, [unitsTo(buyer, units - 1n), satsTo(buyer)]),
      'too few sats': () =>
        this.#sendShort(buyer, way, [unitsTo(buyer), satsTo(buyer, Number(sats) - 1_200)]),
      'another rune': () =>
        send({ value: runeSats, outputScript: token, units: [[other, 7n]] }, satsTo(buyer)),
      burned: () => this.#send(buyer, way, [unitsTo(buyer), satsTo(buyer)], { isCenotaph: true }),
      'rune alone': () => send(unitsTo(buyer)),
      'sats alone': () => send(satsTo(buyer)),
      nothing: async () => this.#count(way),
      cancelled: async () => {
        await this.#cancel(buyer);
        this.#count(way);
      },
      'cancelled with a rune': async () => {
        await send(unitsTo(buyer));
        await this.#cancel(buyer);
      },
      late: async () => {
        if (await this.#end(buyer)) await send(unitsTo(buyer), satsTo(buyer));
      },
      'rune late': async () => {
        await this.#send(buyer, 'sats alone', [satsTo(buyer)]);
        if (await this.#end(buyer)) await send(unitsTo(buyer));
      },
    };
    await ways[way]?.();
  }

  async #sendShort(buyer: RuneBuyer, way: BuyingCase, outputs: readonly PayingOutput[]): Promise<void> {
    buyer.isShort = this.#parts.random.unit() < 0.6;
    await this.#send(buyer, way, outputs);
  }

  /** Pays the missing amount of an order, and more. */
  async #topUp(): Promise<void> {
    const buyer = this.#any(({ isShort }) => isShort);
    if (buyer === null) return;
    buyer.isShort = false;
    await this.#send(buyer, 'topped up', [unitsTo(buyer, 1n + buyer.units / 2n), satsTo(buyer)]);
  }

  /** Lets a stranger send dust, and perhaps units of any rune, to addresses of an order in any state. */
  async #pester(): Promise<void> {
    const { random, payments } = this.#parts;
    const buyer = this.#any(() => true);
    if (buyer === null) return;
    const rune = payments.runes[random.below(payments.runes.length)]!;
    const dust = dustSats + random.below(40);
    await this.#send(buyer, 'by a stranger', [
      { value: runeSats, outputScript: buyer.token, units: random.unit() < 0.5 ? [[rune, 1n]] : [] },
      ...(random.unit() < 0.5 ? [satsTo(buyer, dust)] : []),
    ]);
    this.dustOf.set(buyer.id, (this.dustOf.get(buyer.id) ?? 0) + dust + runeSats);
  }

  /** Ends the time of one of the last orders, even if it was paid. */
  async #endTime(): Promise<void> {
    const buyer = this.#any(({ isOver }) => !isOver);
    if (buyer !== null && (await this.#end(buyer))) this.#count('over');
  }

  /** Ends the time of an order after its payments are seen. False if they are not seen within the maximum time. */
  async #end(buyer: RuneBuyer): Promise<boolean> {
    for (const until = Date.now() + seenWithinMs; Date.now() < until; await delay(againMs)) {
      if (!(await this.#parts.passDay(buyer, [...buyer.sent.keys()]))) continue;
      buyer.isOver = true;
      return true;
    }
    return false;
  }

  async #cancel(buyer: RuneBuyer): Promise<void> {
    buyer.isCancelAsked = true;
    const { status } = await this.#parts.shop.ask('/order/cancel', { id: buyer.id });
    buyer.isCancelled = status === 200;
  }

  async #send(
    buyer: RuneBuyer,
    way: BuyingCase,
    outputs: readonly PayingOutput[],
    kind: SentPayment['kind'] = {},
  ): Promise<void> {
    const made = await this.#parts.payments.send(outputs, kind);
    if (made === null) return;
    this.#note(buyer, made);
    buyer.payments.push(made);
    this.#count(way);
  }

  #note(buyer: RuneBuyer, { coin, outputs, made, kind }: SentPayment): void {
    // a payment that was taken back completely is never seen
    if (outputs.length === 0) return;
    const halves = outputs.map(({ value, outputScript, units = [] }) =>
      outputScript === buyer.charge
        ? { sats: BigInt(value), units: 0n }
        : { sats: 0n, units: units.find(([rune]) => rune === buyer.asked)?.[1] ?? 0n },
    );
    buyer.sent.set(made.txid, {
      coin: `${coin.txid}:${coin.vout}`,
      units: kind.isCenotaph === true ? 0n : halves.reduce((sum, each) => sum + each.units, 0n),
      sats: halves.reduce((sum, each) => sum + each.sats, 0n),
      isLate: buyer.isOver,
    });
  }

  #count(way: BuyingCase): void {
    this.done.set(way, (this.done.get(way) ?? 0) + 1);
  }

  async #add(
    { id: collection, sold, account, runePrice }: RuneSale,
    count: number,
    owners: { readonly receiver: number; readonly refund: number },
    made: MadeSale,
  ): Promise<RuneBuyer> {
    const { feeCharge, tokenCharge, id: tokenOrder } = made.tokenPayCharge;
    const units = runePrice!.amount * BigInt(count);
    if (BigInt(tokenCharge.amountBase) !== units || feeCharge.amount !== made.amount)
      throw new Error(`${count} items of ${collection} have wrong charges: ${JSON.stringify(made)}`);
    const [charge, token] = [
      await this.#scriptOf(feeCharge.address),
      await this.#scriptOf(tokenCharge.address),
    ];
    const buyer: RuneBuyer = {
      id: made.id,
      tokenOrder,
      collection,
      items: made.collection.items,
      account,
      asked: sold,
      rune: sold.etching,
      units,
      sats: BigInt(feeCharge.amount),
      charge,
      token,
      chargeScript: hexOf(charge),
      tokenScript: hexOf(token),
      receiver: hexOf(scriptOf(owners.receiver)),
      refund: hexOf(scriptOf(owners.refund)),
      isOver: false,
      isCancelAsked: false,
      isCancelled: false,
      isShort: false,
      payments: [],
      sent: new Map(),
    };
    this.all.push(buyer);
    return buyer;
  }

  /** Consecutive items that begin at a random item. */
  #named({ items }: RuneSale, count: number): { readonly requestedIds: readonly number[] } {
    const first = this.#parts.random.below(items);
    return { requestedIds: Array.from({ length: count }, (_, place) => ((first + place) % items) + 1) };
  }

  async #scriptOf(address: string): Promise<Uint8Array> {
    const { scriptPubKey } = await this.#parts.rpc.call<{ scriptPubKey: string }>('validateaddress', [
      address,
    ]);
    return Buffer.from(scriptPubKey, 'hex');
  }

  #any(isSo: (buyer: RuneBuyer) => boolean): RuneBuyer | null {
    const found = this.all.slice(-recent).filter(isSo);
    return found[this.#parts.random.below(Math.max(1, found.length))] ?? null;
  }
}

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');

const unitsTo = ({ token, asked, units }: RuneBuyer, paid = units): PayingOutput => ({
  value: runeSats,
  outputScript: token,
  units: [[asked, paid]],
});

const satsTo = ({ charge, sats }: RuneBuyer, value = Number(sats)): PayingOutput => ({
  value,
  outputScript: charge,
});

/** A smaller amount of an output, which may be too little. */
function lessOf({ value, outputScript, units = [] }: PayingOutput): PayingOutput {
  const fewer = units.map(([rune, amount]) => [rune, amount > 1n ? amount - 1n : amount] as const);
  return { value: Math.max(runeSats, value - 1_000), outputScript, units: fewer };
}
