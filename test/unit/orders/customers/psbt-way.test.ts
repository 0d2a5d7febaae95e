import { describe, expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { type OrderProgress, orderFields } from '#orders/customers/order-answer.ts';
import { psbtWay } from '#orders/customers/psbt-way.ts';
import type { Order } from '#orders/order/order.store.ts';
import { orderStates } from '#orders/order/order-machine.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';

const made = wantedOrder(['text']);
const plain = storedTerms(made.terms);
const returnScript = Buffer.from(scriptOf(1)).toString('hex');
const lent = { ...plain, parents: [{ id: `${'ab'.repeat(32)}i0`, value: '546', returnScript }] };
const order = { id: 'the id', address: addressOf(2), terms: plain };
const hour = 3_600_000;
const read = {
  ...order,
  kind: 'direct',
  state: 'waiting-payment',
  script: Buffer.from(scriptOf(2)),
  amount: BigInt(made.quote.amount),
  extraCost: 0n,
  request: { ...made.request, parents: null },
  quote: made.quote,
  repriced: null,
  error: null,
  paidAt: null,
  webhookUrl: null,
  isCancelAsked: false,
  createdAt: new Date(Date.now() - hour),
  expiresAt: new Date(Date.now() + hour),
} as unknown as Order;
const unpaid: OrderProgress = {
  files: [],
  transactions: [],
  mints: [],
  etched: null,
  payments: [],
  held: new Map(),
  parents: [],
  tokenOrder: null,
};
const paidWith = (value: bigint): OrderProgress =>
  ({
    ...unpaid,
    payments: [
      { txid: new Uint8Array(32), vout: 0, value, firstSeen: new Date(), block: null, goneAt: null },
    ],
  }) as unknown as OrderProgress;
const wayOf = (shown: Partial<Order>, progress = unpaid): unknown =>
  orderFields({ ...read, ...shown }, progress, networks.regtest, 'http://orders.test')['psbt'];

describe('the PSBT way of an order', () => {
  test('pays what is missing, and sends its parents too', () => {
    expect(psbtWay(order, { sats: 1000n, parents: 0 })).toEqual({
      path: '/create-special-sats-psbt',
      body: { chargeAmount: 1000, fundingAddress: order.address, feeRate: Number(plain.feeRate) / 1000 },
    });
    for (const lacking of [
      { sats: 1000n, parents: 1 },
      { sats: 0n, parents: 1 },
      { sats: 1000n, parents: 0 },
    ])
      expect(psbtWay({ ...order, terms: lent }, lacking)).toMatchObject({
        path: '/create-parent-child-psbt',
        body: { orderId: 'the id' },
      });
    expect(psbtWay(order, { sats: 0n, parents: 0 })).toBe(null);
  });

  test('is shown while the order takes money, with the sats that are missing now', () => {
    const { amount } = read;
    expect(wayOf({})).toMatchObject({ body: { chargeAmount: Number(amount) } });
    expect(wayOf({}, paidWith(1000n))).toMatchObject({
      body: { chargeAmount: expect.closeTo(Number(amount - 1000n), -4) as number },
    });
    expect(wayOf({}, paidWith(amount))).toBe(undefined);
    expect(wayOf({ isCancelAsked: true })).toBe(undefined);
    expect(wayOf({ expiresAt: new Date(Date.now() - 1) })).toBe(undefined);
    const shown = orderStates.filter((state) => wayOf({ state }) !== undefined);
    expect(shown).toEqual(['waiting-payment', 'waiting-parent']);
  });
});
