import { describe, expect, expectTypeOf, test } from 'vitest';
import { asHeight, type Height, isHeight, maxHeight, parseHeight } from '#kernel/primitives/height.ts';

describe('a height', () => {
  test('does not compile from another number, nor from arithmetic, without a cast', () => {
    expectTypeOf<Height>().toExtend<number>();
    expectTypeOf<number>().not.toExtend<Height>();
    const next = asHeight(840_000) + 1;
    expectTypeOf(next).not.toExtend<Height>();
    expectTypeOf(asHeight(next)).toEqualTypeOf<Height>();
  });

  test.each([0, 840_000, maxHeight])('may be %d', (number) => {
    expect(asHeight(number)).toBe(number);
    expect(isHeight(number)).toBe(true);
    expect(parseHeight(String(number))).toBe(number);
  });

  test.each([-1, 0.5, maxHeight + 1, Number.NaN, Number.POSITIVE_INFINITY])('is never %d', (number) => {
    expect(() => asHeight(number)).toThrow('is not a height');
    expect(isHeight(number)).toBe(false);
    expect(parseHeight(String(number))).toBeNull();
  });

  test.each(['', ' 1', '1 ', '+1', '0x10', '1e3', '12345678901', '٣'])('is not read from %j', (text) => {
    expect(parseHeight(text)).toBeNull();
  });
});
