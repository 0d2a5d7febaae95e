import { describe, expect, test } from 'vitest';
import { type SplitNeedles, splitNeedles } from '#search/text/split-needles.ts';

const needles = (...list: string[]): SplitNeedles => ({ kind: 'needles', needles: list });

describe('the needles of a text', () => {
  test.each<[string, string[]]>([
    ['brc-20', ['brc-20']],
    ['a,b', ['a', 'b']],
    [' a b ,\tc\r\n', ['a b', 'c']],
    [',,a,, ,b,', ['a', 'b']],
    ['a,a', ['a', 'a']],
    ['"op":"mint"', ['"op":"mint"']],
    ['\u00a0a\u3000', ['\u00a0a\u3000']],
    ['\0', ['\0']],
    ['%_\\', ['%_\\']],
    [
      Array.from({ length: 32 }, (_, i) => String(i)).join(','),
      Array.from({ length: 32 }, (_, i) => String(i)),
    ],
    ['x'.repeat(1000), ['x'.repeat(1000)]],
    ['😀'.repeat(1000), ['😀'.repeat(1000)]],
  ])('%j', (text, expected) => {
    expect(splitNeedles(text, false)).toEqual(needles(...expected));
  });

  test('are the whole text as it is where it is a phrase', () => {
    expect(splitNeedles(' {"p":"brc-20","op":"mint"}, ', true)).toEqual(
      needles(' {"p":"brc-20","op":"mint"}, '),
    );
    expect(splitNeedles(',', true)).toEqual(needles(','));
  });

  test('are cut from any number of blanks in linear time', () => {
    // For the first count, a regular expression for trailing blanks took 2 s. For the second, it took sixteen times as
    // long.
    const blanks = (count: number): number => {
      const text = `a${' '.repeat(count)}a`;
      const startedAt = performance.now();
      expect(splitNeedles(text, false).kind).toBe('refused');
      return performance.now() - startedAt;
    };
    expect(blanks(32_000)).toBeLessThan(500);
    expect(Math.min(blanks(1_000_000), blanks(1_000_000))).toBeLessThan(500);
  });

  test.each([
    ['', false, 'nothing to search for'],
    [' , ,', false, 'nothing to search for'],
    ['', true, 'nothing to search for'],
    [Array.from({ length: 33 }, (_, i) => String(i)).join(','), false, '33 needles, but at most 32'],
    ['x'.repeat(1001), false, 'longer than 1000 characters'],
    [`a,${'😀'.repeat(1001)}`, false, 'longer than 1000 characters'],
    [`${'x'.repeat(500)},${'x'.repeat(500)}`, true, 'longer than 1000 characters'],
  ])('are refused with a reason: %s', (text, phrase, reason) => {
    const split = splitNeedles(text, phrase);
    expect(split.kind).toBe('refused');
    expect(split.kind === 'refused' && split.reason).toContain(reason);
  });
});
