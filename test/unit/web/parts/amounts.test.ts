import { expect, test } from 'vitest';
import { coins, price, volume } from '#web/parts/amounts.ts';

test.each([
  [0, '0 sats'],
  [1, '1 sat'],
  [999_999, '999,999 sats'],
  [1_000_000, '0.01 BTC'],
  [1_773_549, '0.01774 BTC'],
  [7_205_600, '0.07206 BTC'],
  [99_999_999, '1 BTC'],
  [123_456_789, '1.235 BTC'],
  [1_234_567_890_123, '12,346 BTC'],
])('a sum of %i sats has four significant digits', (sats, words) => {
  expect(volume(sats).text).toContain(`>${words}</span>`);
});

test('a price has all digits', () => {
  expect([999_999, 1_000_000, 149_500_001].map(price)).toEqual([
    '999,999 sats',
    '0.01 BTC',
    '1.49500001 BTC',
  ]);
  expect([1, 149_500].map(coins)).toEqual(['0.00000001', '0.001495']);
});
