import { describe, expect, test } from 'vitest';
import { plural, sizeWords, timeWords } from '#web/format.ts';
import { knownOf } from '#web/known.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';

describe('knownOf', () => {
  test('says that all facts are known with history and spent outputs', () => {
    expect(knownOf({ anchored: true, hasSpent: true, sequenced: true, numbered: false }).unknown).toBeNull();
  });

  test('blames the blocks before it', () => {
    const { known, unknown, why } = knownOf({
      anchored: false,
      hasSpent: true,
      sequenced: false,
      numbered: false,
    });
    expect(known).toBe('ids, contents, metadata, places, values, fees');
    expect(unknown).toContain('numbers');
    expect(unknown).not.toContain('fees');
    expect(why).toBe('blocks before it are missing');
    expect(knownOf({ anchored: false, hasSpent: true, sequenced: true, numbered: false }).known).toContain(
      'sequence numbers (their start is proven)',
    );
  });

  test('blames the spent outputs', () => {
    const { unknown, why } = knownOf({ anchored: true, hasSpent: false, sequenced: false, numbered: false });
    expect(unknown).toContain('fees');
    expect(why).toBe('the outputs that it spends are missing');
    expect(knownOf({ anchored: true, hasSpent: false, sequenced: true, numbered: true }).known).toBe(
      'ids, contents, metadata, sequence numbers, numbers',
    );
    expect(knownOf({ anchored: false, hasSpent: false, sequenced: false, numbered: false }).why).toContain(
      ', and blocks before',
    );
  });
});

describe('words', () => {
  test('have units that a person would choose', () => {
    expect([0, 1, 999, 1_000, 65_432, 3_969_000].map(sizeWords)).toEqual([
      '0 bytes',
      '1 byte',
      '999 bytes',
      '1.0 kB',
      '65 kB',
      '4.0 MB',
    ]);
    expect(plural(1, 'sat')).toBe('1 sat');
    expect(plural(1_234, 'sat')).toBe('1,234 sats');
    expect(timeWords(1_231_006_505)).toBe('2009-01-03 18:15 UTC');
  });
});

describe('pagesNav', () => {
  const at = (page: number, totalPages: number): string =>
    pagesNav({ path: '/', parameters: { text: 'a&b' }, page, totalPages })?.text ?? '';

  test('is absent for one page', () => {
    expect(at(1, 1)).toBe('');
    expect(at(1, 0)).toBe('');
  });

  test('leads to the neighbours and the ends', () => {
    const nav = at(5, 9);
    for (const page of [1, 4, 6, 9]) expect(nav).toContain(`href="/?text=a%26b&amp;page=${page}"`);
  });

  test('leads back from beyond the end', () => {
    const nav = at(1_000, 9);
    expect(nav).toContain('page=9" rel="prev"');
    expect(nav).not.toContain('rel="next"');
    expect(at(1_000, 0)).toContain('page=1"');
  });
});
