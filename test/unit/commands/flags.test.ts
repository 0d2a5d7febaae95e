import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '#src/app/command-context.ts';
import { hashFlag, heightFlag } from '#src/commands/flags.ts';

describe('a height on the command line', () => {
  test('is any integer that a height can be', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        (height) => heightFlag({ to: String(height) }, 'to') === height,
      ),
    );
  });

  test('is undefined if it was left out', () => {
    expect(heightFlag({}, 'to')).toBeUndefined();
  });

  test.each(['-1', '1.0', ' 1', '1e3', '0x1', '', '2147483648', '99999999999'])('cannot be %j', (text) => {
    expect(() => heightFlag({ to: text }, 'to')).toThrow(UsageError);
  });
});

describe('a block hash on the command line', () => {
  test('is 64 digits in lower case', () => {
    expect(hashFlag({ tip: '0f'.repeat(32) }, 'tip')).toBe('0f'.repeat(32));
    expect(hashFlag({}, 'tip')).toBeUndefined();
    for (const text of ['0F'.repeat(32), '0f'.repeat(31), '0f'.repeat(33), 'g0'.repeat(32)]) {
      expect(() => hashFlag({ tip: text }, 'tip')).toThrow(UsageError);
    }
  });
});
