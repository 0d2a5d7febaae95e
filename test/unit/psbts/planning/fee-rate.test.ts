import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { feeRateFor, feeRateWarnings } from '#psbts/coins/node-fees.ts';
import { type FeeRateUnit, readFeeRate } from '#psbts/planning/fee-rate.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

function read(given: unknown, unit?: FeeRateUnit): bigint | null | string {
  const values = new RequestValues();
  const rate = readFeeRate(values, 'feeRate', given, unit);
  return values.faults[0]?.message ?? rate;
}

const refused = 'feeRate must be from 0.1 to 10000 sats per virtual byte';

test('a rate is a number or its text, in sats per virtual byte, rounded up to thousandths', () => {
  expect(
    [1, '1', 0.1, '0.1', 10_000, '10000.000', 1.1, '12.3456', 0.1 + 0.2].map((given) => read(given)),
  ).toEqual([1000n, 1000n, 100n, 100n, 10_000_000n, 10_000_000n, 1100n, 12_346n, 300n]);
});

test.each<[string, FeeRateUnit, bigint]>([
  ['1.0E-5', 'either', 1000n],
  ['1e-5', 'either', 1000n],
  ['2.5E-4', 'either', 25_000n],
  ['1e1', 'sat/vB', 10_000n],
  ['5.0E+0', 'sat/vB', 5000n],
  ['1E-1', 'sat/vB', 100n],
])('%s as %s', (given, unit, rate) => {
  expect(read(given, unit)).toBe(rate);
});

test("without a rate, or with 0, the node's rate counts", () => {
  expect([undefined, null, '', 0, '0', '0.0'].map((given) => read(given))).toEqual(
    Array.from({ length: 6 }, () => null),
  );
});

test.each([
  0.05,
  '0.05',
  1e9,
  10_000.1,
  -1,
  '-1',
  Number.NaN,
  Infinity,
  'Infinity',
  '0x10',
  ' 1',
  '1,5',
  '+1',
  '1e400',
  '1e-400',
  '1e5',
  '1e',
  '1_000',
  true,
  [1],
  {},
])('%j is refused', (given) => {
  expect(read(given)).toBe(refused);
});

test('paths of token payments take bitcoins for 1,000 virtual bytes below 0.1', () => {
  expect([0.0001, '0.0001', 0.00001, 0.01, 0.1, 5].map((given) => read(given, 'either'))).toEqual([
    10_000n,
    10_000n,
    1000n,
    1_000_000n,
    100n,
    5000n,
  ]);
  for (const given of [0.05, 0.011, 0.000_009, 1e-8])
    expect(read(given, 'either')).toBe(
      `${refused}, or bitcoins for 1,000 virtual bytes from 0.00001 to 0.01`,
    );
});

test('any value is read, or refused with one fault', () => {
  fc.assert(
    fc.property(fc.anything(), (given) => {
      const values = new RequestValues();
      const rate = readFeeRate(values, 'feeRate', given, 'either');
      expect(values.faults.length).toBeLessThan(2);
      expect(rate === null || (rate >= 100n && rate <= 10_000_000n)).toBe(true);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('a rate that the node does not take is refused with its number', () => {
  const standing = {
    minRelayFeeRate: 100n,
    mempoolMinFeeRate: 2500n,
    incrementalFeeRate: 100n,
    estimate: 7000n,
    cluster: { count: 25, virtualBytes: 101_000 },
  };
  expect(feeRateFor(null, standing)).toBe(7000n);
  expect(feeRateFor(2500n, standing)).toBe(2500n);
  expect(feeRateWarnings(7000n, standing)).toEqual([]);
  expect(feeRateWarnings(2500n, standing)).toEqual([
    "feeRate: 2.5 sat/vB is below the node's present estimate of 7, so the transaction may wait for days.",
  ]);
  expect(feeRateFor(1000n, standing)).toMatchObject({
    kind: 'refused',
    reason: 'feeRate must be at least 2.5 sat/vB now, not 1, because the node accepts nothing below that.',
    parameter: 'feeRate',
  });
});
