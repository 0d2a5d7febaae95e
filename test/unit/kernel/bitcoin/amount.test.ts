import fc from 'fast-check';
import { expect, test } from 'vitest';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const satsMax = 2_100_000_000_000_000;

/** An amount as bitcoind writes it. */
function written(sats: number): string {
  const digits = String(sats).padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

test('reads back every amount that a node can write', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: satsMax }), (sats) => {
      expect(satsOfBitcoins(JSON.parse(written(sats)))).toBe(sats);
    }),
    { numRuns: propertyRuns(3000) },
  );
});

test.each([0, 1, 546, 99_999_999, 100_000_000, 2_099_999_997_690_000, satsMax - 1, satsMax])(
  'reads back %i sats',
  (sats) => {
    expect(satsOfBitcoins(JSON.parse(written(sats)))).toBe(sats);
  },
);

test.each([
  -1e-8,
  -1,
  21_000_000.000_000_01,
  1e300,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  0.000_000_005,
  null,
  '1',
  undefined,
  {},
])('refuses %s as an amount', (amount) => {
  expect(() => satsOfBitcoins(amount)).toThrow(expect.objectContaining({ code: 'node_answer_invalid' }));
});
