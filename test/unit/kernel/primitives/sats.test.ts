import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Height } from '#kernel/primitives/height.ts';
import { asSats, isSats, type Sats } from '#kernel/primitives/sats.ts';

describe('an amount of sats', () => {
  test('does not compile from another number or a height', () => {
    expectTypeOf<number>().not.toExtend<Sats>();
    expectTypeOf<Height>().not.toExtend<Sats>();
    expectTypeOf(asSats(1) + 1).not.toExtend<Sats>();
  });

  test.each([0, 546, 2_100_000_000_000_000])('may be %d', (number) => {
    expect(asSats(number)).toBe(number);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('is never %d', (number) => {
    expect(() => asSats(number)).toThrow('is not an amount of sats');
    expect(isSats(number)).toBe(false);
  });
});
