import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ChargeFacts,
  chargeState,
  chargeStates,
  tokenOrderState,
} from '#tokenpay/order/charge-state.ts';

const facts = fc.record({
  amount: fc.bigInt(0n, 5n),
  credited: fc.bigInt(0n, 6n),
  isWaiting: fc.boolean(),
});

describe('a charge', () => {
  test.each([
    [{ amount: 5n, credited: 0n, isWaiting: false }, false, 'pending_payment'],
    [{ amount: 5n, credited: 0n, isWaiting: true }, false, 'payment_seen'],
    [{ amount: 5n, credited: 4n, isWaiting: false }, false, 'payment_seen'],
    [{ amount: 5n, credited: 5n, isWaiting: false }, true, 'completed'],
    // payments that came in time may still be credited
    [{ amount: 5n, credited: 4n, isWaiting: true }, true, 'payment_seen'],
    [{ amount: 5n, credited: 4n, isWaiting: false }, true, 'expired'],
    [{ amount: 0n, credited: 0n, isWaiting: false }, false, 'completed'],
  ] as const)('%o', (given: ChargeFacts, isTimeOver, state) => {
    expect(chargeState(given, isTimeOver)).toBe(state);
  });

  test('is completed only by its amount, at any time', () => {
    fc.assert(
      fc.property(facts, fc.boolean(), (given, isTimeOver) => {
        expect(chargeState(given, isTimeOver) === 'completed').toBe(given.credited >= given.amount);
      }),
    );
  });
});

describe('an order', () => {
  const state = fc.constantFrom(...chargeStates);
  test('is completed by both charges, an error by an expired one, and an error for good', () => {
    fc.assert(
      fc.property(fc.constantFrom('pending', 'completed'), state, state, (before, fee, token) => {
        const after = tokenOrderState(before, [fee, token]);
        expect(after === 'completed').toBe(fee === 'completed' && token === 'completed');
        expect(after === 'error').toBe(fee === 'expired' || token === 'expired');
        expect(tokenOrderState('error', [fee, token])).toBe('error');
      }),
    );
  });
});
