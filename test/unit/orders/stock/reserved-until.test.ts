import { expect, test } from 'vitest';
import { orderStates } from '#orders/order/order-machine.ts';
import { isReserving, reservedUntil, retriedWithinMs } from '#orders/stock/reserved-until.ts';

const expiresAt = new Date(Date.UTC(2026, 0, 1));
const after = (ms: number): Date => new Date(expiresAt.getTime() + ms);
const minute = 60_000;
const day = 24 * 60 * minute;
const none = { expiresAt, paidAt: null, failedAt: null };

test('an order that expired keeps its sat for two minutes, for payments that become known late', () => {
  const order = { ...none, state: 'expired' } as const;
  expect(isReserving(order, after(1))).toBe(true);
  expect(isReserving(order, after(2 * minute))).toBe(false);
});

test('a payment that is not deep a day after its time holds no sat, unless it was deep before', () => {
  const order = { ...none, state: 'waiting-confirmation' } as const;
  expect(isReserving(order, after(day - 1))).toBe(true);
  expect(isReserving(order, after(day))).toBe(false);
  expect(isReserving({ ...order, paidAt: expiresAt }, after(9 * day))).toBe(true);
});

test('a failed order keeps its sat for a day, whenever it was paid', () => {
  const order = { ...none, state: 'error', paidAt: expiresAt, failedAt: after(5 * day) } as const;
  expect(isReserving(order, after(5 * day + retriedWithinMs - 1))).toBe(true);
  expect(isReserving(order, after(5 * day + retriedWithinMs))).toBe(false);
});

test('time alone changes nothing in other states', () => {
  for (const state of orderStates) {
    const order = { ...none, state };
    if (reservedUntil(order) !== null) continue;
    expect(isReserving(order, after(9 * day))).toBe(isReserving(order, after(-1)));
  }
});
