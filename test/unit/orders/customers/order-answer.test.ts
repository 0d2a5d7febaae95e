import { describe, expect, test } from 'vitest';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';

const expiresAt = new Date(Date.UTC(2100, 0, 1));
const made = wantedOrder(['text']);
const order = {
  id: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
  kind: 'direct',
  state: 'waiting-payment',
  amount: 10_000n,
  expiresAt,
  createdAt: new Date(expiresAt.getTime() - 3_600_000),
  paidAt: null,
  repriced: null,
  error: null,
  extraCost: 0n,
  request: made.request,
  quote: made.quote,
  terms: storedTerms(made.terms),
} as unknown as Order;

const payment = (value: bigint, firstSeen: Date): WatchedPayment =>
  ({
    txid: asTxid(new Uint8Array(32)),
    vout: Number(value),
    value,
    firstSeen,
    block: null,
    goneAt: null,
  }) as unknown as WatchedPayment;

const answerTo = (...payments: WatchedPayment[]): object =>
  orderAnswer(
    order,
    {
      files: [],
      transactions: [],
      mints: [],
      etched: null,
      payments,
      held: new Map(),
      parents: [],
      tokenOrder: null,
    },
    networks.regtest,
    'http://orders.test',
  );

describe('the refunds of an order', () => {
  const script = scriptOf(700);
  const refunded = (amount: number, isSent = true) => ({
    kind: 'refund',
    txid: asTxid(new Uint8Array(32).fill(amount % 251)),
    sentAt: isSent ? expiresAt : null,
    plan: { outputs: [{ kind: 'refund', script: Buffer.from(script).toString('hex'), value: amount }] },
  });
  const answerOf = (...transactions: ReturnType<typeof refunded>[]) =>
    orderAnswer(
      order,
      {
        files: [],
        transactions: transactions as unknown as OrderTransaction[],
        mints: [],
        etched: null,
        payments: [],
        held: new Map(),
        parents: [],
        tokenOrder: null,
      },
      networks.regtest,
      'http://orders.test',
    ) as { refund?: object; refunds?: object[] };
  const told = (amount: number, sum = amount) => ({
    address: addressOf(700),
    amount: sum,
    txid: displayHash(refunded(amount).txid),
  });

  test('are shown with their address, once a node has them', () => {
    expect(answerOf(refunded(1000)).refund).toEqual(told(1000));
    expect(answerOf(refunded(1000))).not.toHaveProperty('refunds');
    expect(answerOf(refunded(1000, false))).not.toHaveProperty('refund');
  });

  test('are shown together, and each if there are several', () => {
    const { refund, refunds } = answerOf(refunded(1000), refunded(29_598), refunded(5000, false));
    expect(refund).toEqual(told(29_598, 30_598));
    expect(refunds).toEqual([told(1000), told(29_598)]);
  });
});

describe('the missing sats of an order', () => {
  const inTime = payment(9_900n, order.createdAt);

  test('are those that it needs: dust and late payments do not count', () => {
    const late = new Date(expiresAt.getTime() + 1000);
    expect(answerTo(inTime, payment(329n, order.createdAt))).toMatchObject({ underpaid: true, missing: 330 });
    expect(answerTo(inTime, payment(5000n, late))).toMatchObject({ underpaid: true, missing: 330 });
  });

  test('do not count payments that a return or a refund has spent, or with an inscription', () => {
    const spare = payment(5000n, order.createdAt);
    const outpoint = `${displayHash(spare.txid)}:${spare.vout}`;
    const returned = { kind: 'return', sentAt: null, plan: { inputs: [{ outpoint }], outputs: [] } };
    const progress = {
      files: [],
      transactions: [],
      mints: [],
      etched: null,
      payments: [inTime, spare],
      held: new Map(),
      parents: [],
      tokenOrder: null,
    };
    const of = (more: object) =>
      orderAnswer(order, { ...progress, ...more }, networks.regtest, 'http://orders.test');
    expect(of({})).not.toHaveProperty('missing');
    expect(of({ transactions: [returned] as never })).toMatchObject({ missing: 330 });
    expect(of({ held: new Map([[outpoint, { inscriptions: [{}] }]]) })).toMatchObject({ missing: 330 });
  });

  test('are absent once it is paid in time, and before anything is paid', () => {
    expect(answerTo(inTime, payment(330n, order.createdAt))).not.toHaveProperty('missing');
    expect(answerTo()).not.toHaveProperty('missing');
  });
});
