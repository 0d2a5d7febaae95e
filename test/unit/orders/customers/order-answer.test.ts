import { describe, expect, test } from 'vitest';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';

const expiresAt = new Date(Date.UTC(2026, 0, 1));
const order = {
  id: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
  state: 'waiting-payment',
  amount: 10_000n,
  expiresAt,
  createdAt: new Date(expiresAt.getTime() - 3_600_000),
  paidAt: null,
  error: null,
  request: { count: 1 },
  quote: {},
} as unknown as Order;

const payment = (value: bigint, firstSeen: Date): WatchedPayment =>
  ({ value, firstSeen, block: null, goneAt: null }) as unknown as WatchedPayment;

const answerTo = (...payments: WatchedPayment[]): object =>
  orderAnswer(order, { files: [], transactions: [], payments, parents: [] });

describe('what is missing of an order', () => {
  const inTime = payment(9_900n, order.createdAt);

  test('is what it takes to bring it on: dust and late payments do not count', () => {
    const late = new Date(expiresAt.getTime() + 1000);
    expect(answerTo(inTime, payment(329n, order.createdAt))).toMatchObject({ underpaid: true, missing: 100 });
    expect(answerTo(inTime, payment(5000n, late))).toMatchObject({ underpaid: true, missing: 100 });
  });

  test('is nothing once it is there in time, and before anything is paid', () => {
    expect(answerTo(inTime, payment(330n, order.createdAt))).not.toHaveProperty('missing');
    expect(answerTo()).not.toHaveProperty('missing');
  });
});
