import { describe, expect, test } from 'vitest';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { confirmationsOf, parseTokenPolicy } from '#tokenpay/order/token-policy.ts';

describe('confirmations of token payments', () => {
  test('are the maximum over the runes of an output', () => {
    const policy = parseTokenPolicy('2,DOG•GO•TO•THE•MOON:6,AB:1')!;
    const rune = (name: string) => parseSpacedRune(name)!.rune;
    expect(confirmationsOf(policy, [])).toBe(2);
    expect(confirmationsOf(policy, [rune('OTHER')])).toBe(2);
    // names are compared without spacers
    expect(confirmationsOf(policy, [rune('DOGGOTOTHEMOON'), rune('AB')])).toBe(6);
    expect(confirmationsOf(policy, [rune('AB')])).toBe(1);
  });

  test.each(['', '0', '101', 'x', '2,', '2,ab:3', '2,AB', '2,AB:0', '2,AB:1:2', '2,AB:1,A•B:2'])(
    '%s is refused',
    (text) => {
      expect(parseTokenPolicy(text)).toBeNull();
    },
  );
});
