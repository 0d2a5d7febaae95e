import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bitcoinOf as bitcoinOfServer } from '#orders/customers/managed-answer.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { bitcoinOf, paymentUri, plural, satsWords, sizeWords } from '#web/assets/script/order/amounts.js';

test('any amount in bitcoin is the same as in the service', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2_100_000_000_000_000 }), (sats) => {
      expect(bitcoinOf(sats)).toBe(bitcoinOfServer(BigInt(sats)));
    }),
    { numRuns: propertyRuns(200) },
  );
});

test('a payment has the form of BIP 21, and names no order', () => {
  expect(paymentUri('bc1qexample', 20_995)).toBe('bitcoin:bc1qexample?amount=0.00020995');
});

test('words of amounts', () => {
  expect([satsWords(1), satsWords(12_345), plural(2, 'file'), plural(1, 'file')]).toEqual([
    '1 sat',
    '12,345 sats',
    '2 files',
    '1 file',
  ]);
  expect([0, 1, 999, 1_500, 400_000, 50_000_000].map(sizeWords)).toEqual([
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1.5 kB',
    '400 kB',
    '50.0 MB',
  ]);
});
