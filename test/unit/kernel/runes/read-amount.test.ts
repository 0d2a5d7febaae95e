import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amountFault, readAmount } from '#kernel/runes/read-amount.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { maxU128, trustedU128 } from '#kernel/runes/u128.ts';

const read = (text: string, divisibility: number): bigint | string => {
  const found = readAmount(text, divisibility);
  return found.kind === 'read' ? found.amount : found.reason;
};

describe('an amount in display units', () => {
  test('is read as it is shown, to the unit', () => {
    const edges = [1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n, maxU128];
    for (const divisibility of [0, 8, 38])
      for (const amount of edges)
        expect(read(shownAmount(trustedU128(amount), divisibility), divisibility)).toBe(amount);
    fc.assert(
      fc.property(fc.bigInt(1n, maxU128), fc.integer({ min: 0, max: 38 }), (amount, divisibility) => {
        expect(read(shownAmount(trustedU128(amount), divisibility), divisibility)).toBe(amount);
      }),
    );
  });

  test.each([
    ['1.0E-8', 8, 1n],
    ['1e2', 0, 100n],
    ['2.50', 1, 25n],
    ['007', 0, 7n],
    ['0.1e1', 0, 1n],
    ['1E+3', 2, 100_000n],
  ])('%s with %i decimals', (text, divisibility, amount) => {
    expect(read(text, divisibility)).toBe(amount);
  });

  test.each([
    ['', 'must be a number'],
    ['NaN', 'must be a number'],
    ['Infinity', 'must be a number'],
    ['0x10', 'must be a number'],
    ['1,5', 'must be a number'],
    [' 1', 'must be a number'],
    ['+1', 'must be a number'],
    ['1.', 'must be a number'],
    ['.5', 'must be a number'],
    ['1n', 'must be a number'],
    ['0', 'above 0'],
    ['-0', 'above 0'],
    ['-1', 'above 0'],
    ['0.0e9', 'above 0'],
    ['1e400', 'exponent'],
    ['1e-61', 'exponent'],
    ['1e999999999', 'exponent'],
    ['1.000000001', 'more than 8 decimals'],
    ['0.30000000000000004', 'more than 8 decimals'],
    [String(maxU128), 'above 2^128'],
    ['1'.repeat(101), 'characters'],
  ])('%s is refused', (text, reason) => {
    expect(read(text, 8)).toContain(reason);
  });

  test('is total, and nothing is rounded', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('0', '1', '2', '9', '.', 'e', 'E', '+', '-') }),
        fc.integer({ min: 0, max: 38 }),
        (text, divisibility) => {
          const found = readAmount(text, divisibility);
          if (found.kind === 'read' && Number.isSafeInteger(Number(text)))
            expect(found.amount).toBe(BigInt(Number(text)) * 10n ** BigInt(divisibility));
        },
      ),
    );
  });
});

describe('a fault of the form', () => {
  test('is the same for every rune, and an amount that a rune accepts has none', () => {
    const digits = fc.stringMatching(/^-?\d{1,45}(?:\.\d{1,42})?(?:e[+-]?\d{1,2})?$/u);
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 38 }), (text, divisibility) => {
        if (typeof read(text, divisibility) === 'bigint') expect(amountFault(text)).toBeNull();
      }),
    );
  });

  test.each([
    ['1,5', 'must be a number in digits'],
    ['0', 'must be above 0'],
    ['-1', 'must be above 0'],
    ['1e400', 'has an exponent beyond 60'],
    ['1e-39', 'has more than 38 decimals, the maximum of all runes'],
    [String(maxU128 + 1n), 'is above 2^128 - 1 base units'],
    [`${maxU128}.9`, null],
    ['1e-38', null],
  ])('%s', (text, fault) => {
    expect(amountFault(text)).toBe(fault);
  });
});
