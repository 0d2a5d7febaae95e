import { expect, test } from 'vitest';
import { IndexWait } from '#tokenpay/following/follow-token-orders.ts';

const apart = { index: 'a', payments: 'b' };
const together = { index: 'b', payments: 'b' };

test('a block that the index will soon have is waited for', () => {
  const wait = new IndexWait();
  expect(wait.isWorthIt(apart, 0)).toBe(true);
  expect(wait.isWorthIt(apart, 499)).toBe(true);
  expect(wait.isWorthIt(together, 499)).toBe(false);
  // waiting for the next block is worth it again
  expect(wait.isWorthIt(apart, 10_000)).toBe(true);
});

test('an index that lacks hours of work is not waited for, however its tip moves', () => {
  const wait = new IndexWait();
  wait.isWorthIt(apart, 0);
  for (const now of [500, 501, 90_000])
    expect(wait.isWorthIt({ index: `${now}`, payments: 'b' }, now)).toBe(false);
});

test('without a block of either, nothing is waited for', () => {
  expect(new IndexWait().isWorthIt({ index: null, payments: null }, 0)).toBe(false);
});
