import { expect, test } from 'vitest';
import { orderStates } from '#orders/order/order-machine.ts';
import { pauseMs } from '#web/assets/script/order/polling.js';

const look = { state: 'waiting-payment', isHidden: false, failures: 0, retryAfterMs: null } as const;

test('an unpaid order is read every few seconds, far below the limit of an address', () => {
  for (const state of orderStates) {
    // the limit is 300 requests a minute for all pages of a person
    expect(pauseMs({ ...look, state })).toBeGreaterThanOrEqual(3000);
    expect(pauseMs({ ...look, state, isHidden: true })).toBeGreaterThan(pauseMs({ ...look, state }));
  }
  expect(pauseMs(look)).toBeLessThanOrEqual(5000);
});

test('failures make pauses longer up to a minute, and Retry-After is respected', () => {
  const failed = [1, 2, 3, 50].map((failures) => pauseMs({ ...look, failures }));
  expect(failed).toEqual([8000, 16_000, 32_000, 60_000]);
  expect(pauseMs({ ...look, failures: 1, retryAfterMs: 90_000 })).toBe(90_000);
});
