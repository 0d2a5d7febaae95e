import { expect, test } from 'vitest';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { asU128, maxU128 } from '#kernel/runes/u128.ts';

test.each<[number | bigint, number, string]>([
  [0, 0, '0'],
  [0, 38, '0'],
  [1, 0, '1'],
  [100, 0, '100'],
  [100, 2, '1'],
  [100, 3, '0.1'],
  [105, 2, '1.05'],
  [1, 38, '0.00000000000000000000000000000000000001'],
  [maxU128, 38, '3.40282366920938463463374607431768211455'],
  [maxU128, 0, '340282366920938463463374607431768211455'],
])('%s with divisibility %s is %s', (amount, divisibility, shown) => {
  expect(shownAmount(asU128(amount), divisibility)).toBe(shown);
});
