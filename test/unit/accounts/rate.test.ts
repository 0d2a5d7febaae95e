import { describe, expect, test } from 'vitest';
import { parseRate, rateInWords } from '#accounts/rate.ts';

describe('a rate', () => {
  test.each([
    ['60000', { burst: 60_000, perSeconds: 60 }],
    ['2/10', { burst: 2, perSeconds: 10 }],
    ['1000000/86400', { burst: 1_000_000, perSeconds: 86_400 }],
    ['0', null],
    ['0/10', null],
  ])('%s is read', (text, rate) => {
    expect(parseRate(text)).toEqual({ rate });
  });

  test.each(['', '-1', '1.5', '2/', '/10', '2/0', '2/86401', '1000001', '2 / 10', '2/10/3', '0x10', '1e3'])(
    '%j is refused',
    (text) => {
      expect(parseRate(text)).toBeNull();
    },
  );

  test('is shown in words', () => {
    expect(rateInWords({ burst: 600, perSeconds: 60 })).toBe('600 a minute');
    expect(rateInWords({ burst: 2, perSeconds: 10 })).toBe('2 in 10 s');
  });
});
