import { asBlockHash, type Txid } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { orderPayments } from '#orders/following/order-payments.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { OrderQuote } from '#orders/inscribing/quote-order.ts';
import type { Order } from '#orders/order/order.store.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import type { HeldPayments } from '#orders/parents/held-payments.ts';
import type { OpenRecords } from '#orders/paying/open-order.ts';
import { keptSizeFees } from '#orders/pricing/quoted-layout.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { plainPayment } from '#test/builders/return-facts.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';

const { request, quote: someQuote } = wantedOrder(['text']);

export const now = new Date('2026-05-01T12:00:00Z');
export const tip = asHeight(700);

/** An order made from a quote, as it is stored. */
export function storedOrder(terms: OrderTerms, quote: OrderQuote, more: Partial<Order> = {}): Order {
  return {
    id: '00000000-0000-4000-8000-000000000000',
    kind: 'direct',
    state: 'waiting-payment',
    step: 0,
    keyIndex: 7,
    ownIndex: 3,
    script: Buffer.from([0x51, 0x20, ...new Uint8Array(32).fill(3)]),
    address: 'bcrt1p',
    paidTo: quote.layout.paidTo,
    amount: quote.amount,
    extraCost: 0n,
    quote: {
      ...someQuote,
      ...keptSizeFees(quote.layout),
      serviceFee: Number(quote.serviceFee),
      chainFee: Number(quote.chainFee),
      postage: Number(quote.postage),
      amount: Number(quote.amount),
    },
    request: { ...request, count: terms.files.length },
    terms: storedTerms(terms),
    webhookUrl: null,
    refundScript: null,
    createdAt: new Date(now.getTime() - 60_000),
    expiresAt: new Date(now.getTime() + 3_600_000),
    paidAt: null,
    paidEstimate: null,
    completedAt: null,
    priceKeptAt: null,
    repriced: null,
    isCancelAsked: false,
    error: null,
    stuck: null,
    areLeavesDeleted: false,
    leafHash: null,
    ...more,
  };
}

/** A payment to an order. It was seen before now. */
export const payment = (
  { script }: Pick<Order, 'script'>,
  txid: Txid,
  vout: number,
  value: bigint,
  height: Height | null,
): WatchedPayment => ({
  txid,
  vout,
  script,
  value,
  firstSeen: new Date(now.getTime() - 1000),
  block: height === null ? null : { height, hash: asBlockHash(new Uint8Array(32).fill(1)) },
  goneAt: null,
  replacedBy: null,
  change: 1,
});

/** Records of an order with these payments. Payments in blocks hold nothing, unless `held` says otherwise. */
export function recordsOf(
  order: Order,
  payments: readonly WatchedPayment[],
  more: Partial<OpenRecords> = {},
  said: HeldPayments = new Map(),
): OpenRecords {
  const held: HeldPayments = new Map(
    payments
      .filter(({ block }) => block !== null)
      .map((each) => [outpointOf(each), said.get(outpointOf(each)) ?? plainPayment]),
  );
  return {
    order,
    now,
    tip,
    payments,
    seen: orderPayments(order, { payments, transactions: [], held }),
    held,
    deposits: order.terms.parents.map((_, index) => ({
      index,
      keyIndex: 20 + index,
      script: Uint8Array.of(0x51, 0x20, ...new Uint8Array(32).fill(20 + index)),
      address: `deposit ${index}`,
    })),
    candidates: order.terms.parents.map(() => undefined),
    stocked: null,
    ...more,
  };
}
