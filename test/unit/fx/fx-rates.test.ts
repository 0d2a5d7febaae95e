import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDecimal, readFxRates, usdOf } from '#fx/fx-rates.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const writtenAt = new Date('2026-01-01T00:00:00Z');

describe('rates', () => {
  test('are read as written, from numbers or texts', () => {
    const text =
      '{"bitcoin":{"usd":91234.500000000000000001},"dog":{"usd":"1.2E-3"},"note":"x","gone":null,"updatedAt":1764000000000}';
    expect(readFxRates(text, writtenAt)).toEqual({
      kind: 'rates',
      rates: {
        usd: new Map([
          ['bitcoin', { digits: 91234500000000000000001n, decimals: 18 }],
          ['dog', { digits: 12n, decimals: 4 }],
        ]),
        updatedAt: new Date(1764000000000),
      },
    });
    expect(readFxRates('{}', writtenAt)).toMatchObject({ rates: { updatedAt: writtenAt } });
    expect(readFxRates('{"updatedAt":"2026-02-01T00:00:00Z"}', writtenAt)).toMatchObject({
      rates: { updatedAt: new Date('2026-02-01T00:00:00Z') },
    });
  });

  test.each([
    ['', 'it is not a JSON object'],
    ['[1]', 'it is not a JSON object'],
    ['{"bitcoin":{"usd":0}}', 'the price of bitcoin is not a number above 0'],
    ['{"bitcoin":{"usd":-1}}', 'the price of bitcoin is not a number above 0'],
    ['{"bitcoin":{"usd":"NaN"}}', 'the price of bitcoin is not a number above 0'],
    ['{"bitcoin":{"usd":1e400}}', 'the price of bitcoin is not a number above 0'],
    ['{"bitcoin":{"usd":{}}}', 'the price of bitcoin is not a number above 0'],
    ['{"updatedAt":"soon"}', 'updatedAt is neither a number of milliseconds nor a date'],
    [
      JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, coin) => [coin, {}]))),
      'it has more than 1000 coins',
    ],
  ])('of %s are refused with the reason', (text, reason) => {
    expect(readFxRates(text, writtenAt)).toEqual({ kind: 'faulty', reason });
  });

  test('of any text are rates or a reason', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(['rates', 'faulty']).toContain(readFxRates(text, writtenAt).kind);
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});

describe('an amount in dollars', () => {
  test.each<[bigint, string, number]>([
    [100_000_000n, '91234.56', 91234.56],
    [1n, '91234.56', 0],
    [20_995n, '91234.56', 19.15],
    [500n, '1000', 0.01],
    [499n, '1000', 0],
    [2_100_000_000_000_000n, '1000000', 21_000_000_000_000],
  ])('of %d sats at %s is %d', (sats, price, dollars) => {
    expect(usdOf(sats, readDecimal(price)!)).toBe(dollars);
  });

  test('is the nearest cent, and a number with two decimals', () => {
    const prices = fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 9n }), fc.nat({ max: 8 }))
      .map(([digits, decimals]) => ({ digits, decimals }));
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n }), prices, (sats, price) => {
        const dollars = usdOf(sats, price);
        if (dollars === null) return;
        const cents = BigInt(Math.round(dollars * 100));
        const scale = 10n ** BigInt(price.decimals + 8);
        const twice = 2n * (sats * price.digits * 100n - cents * scale);
        if (cents < 2n ** 50n) expect(twice >= -scale && twice <= scale).toBe(true);
        expect(JSON.stringify(dollars)).toMatch(/^\d+(?:\.\d{1,2})?$/u);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('has no more cents than a number counts', () => {
    expect(usdOf(2_100_000_000_000_000n, readDecimal('99999999999')!)).toBeNull();
  });
});
