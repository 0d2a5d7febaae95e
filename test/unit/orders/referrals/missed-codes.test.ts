import { expect, test } from 'vitest';
import { MissedCodes } from '#orders/referrals/missed-codes.ts';

const minuteMs = 60_000;

test('twenty wrong codes of a network are answered, and one more each three minutes', () => {
  const missed = new MissedCodes();
  for (let nth = 0; nth < 20; nth++) {
    expect(missed.waitMs(`203.0.113.${nth}`, 0)).toBe(0);
    missed.count(`203.0.113.${nth}`, 0);
  }
  expect(missed.waitMs('203.0.113.200', 0)).toBe(3 * minuteMs);
  expect(missed.waitMs('203.0.114.1', 0)).toBe(0);
  expect(missed.waitMs('203.0.113.1', 3 * minuteMs)).toBe(0);
  missed.count('203.0.113.1', 3 * minuteMs);
  expect(missed.waitMs('203.0.113.1', 4 * minuteMs)).toBeCloseTo(2 * minuteMs, 3);
  expect(missed.waitMs('203.0.113.1', 63 * minuteMs)).toBe(0);
});

test('a /48 of IPv6 is one network', () => {
  const missed = new MissedCodes();
  for (let nth = 0; nth < 20; nth++) missed.count(`2001:db8:1:${nth}::/64`, 0);
  expect(missed.waitMs('2001:db8:1:ffff::/64', 0)).toBeGreaterThan(0);
  expect(missed.waitMs('2001:db8:2:1::/64', 0)).toBe(0);
});
