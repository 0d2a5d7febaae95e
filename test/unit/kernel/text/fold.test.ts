import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { caseFoldingUnicodeVersion } from '#kernel/text/case-folding-table.ts';
import { foldCodePoint, foldText, foldUtf8 } from '#kernel/text/fold.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const isSurrogate = (codePoint: number): boolean => codePoint >= 0xd800 && codePoint <= 0xdfff;

/** The construction that src/kernel/text/case-folding-table.ts documents, from the Unicode data of this engine. */
function engineFold(codePoint: number): number {
  const one = (text: string, otherwise: number): number => {
    const first = text.codePointAt(0)!;
    return String.fromCodePoint(first) === text ? first : otherwise;
  };
  const pairs: Record<number, number> = { 0x1fd3: 0x390, 0x1fe3: 0x3b0, 0xfb05: 0xfb06 };
  const upper = one(String.fromCodePoint(codePoint).toUpperCase(), codePoint);
  const cherokee =
    (codePoint >= 0x13a0 && codePoint <= 0x13fd) || (codePoint >= 0xab70 && codePoint <= 0xabbf);
  const mapped =
    pairs[codePoint] ?? (cherokee ? upper : one(String.fromCodePoint(upper).toLowerCase(), upper));
  if (mapped === codePoint) return codePoint;
  const equal = new RegExp(`^\\u{${mapped.toString(16)}}$`, 'iu').test(String.fromCodePoint(codePoint));
  return equal ? mapped : codePoint;
}

describe('the folding of code points', () => {
  test('follows CaseFolding.txt where the statuses differ', () => {
    const folds: [string, string][] = [
      ['ß', 'ß'],
      ['ẞ', 'ß'],
      ['İ', 'İ'],
      ['ı', 'ı'],
      ['I', 'i'],
      ['\u212a', 'k'],
      ['ſ', 's'],
      ['\u2126', 'ω'],
      ['Å', 'å'],
      ['\u212b', 'å'],
      ['Σσς', 'σσσ'],
      ['µ', 'μ'],
      ['Ǆǅǆ', 'ǆǆǆ'],
      ['\u0345\u1fbe', 'ιι'],
      ['\u1fd3\u1fe3\ufb05', '\u0390\u03b0\ufb06'],
      ['ŉ', 'ŉ'],
      ['ﬀ', 'ﬀ'],
      ['ᾼ', 'ᾳ'],
      ['Ა', 'ა'],
      ['Ꭰꭰ', 'ᎠᎠ'],
      ['Ᏸᏸ', 'ᏰᏰ'],
      ['𐐀𐐨', '𐐨𐐨'],
      ['Ⱥ', 'ⱥ'],
      ['\0', '\u2400'],
      ['\ud800A\udc00', '\ud800a\udc00'],
    ];
    for (const [text, folded] of folds) expect(foldText(text)).toBe(folded);
  });

  test('changes 1,512 code points and NUL, and is idempotent', () => {
    let changed = 0;
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
      const folded = foldCodePoint(codePoint);
      if (folded === codePoint) continue;
      changed++;
      if (foldCodePoint(folded) !== folded) expect.unreachable(`U+${codePoint.toString(16)} folds twice`);
    }
    expect(changed).toBe(1513);
  });

  test.runIf(process.versions['unicode'] === caseFoldingUnicodeVersion)(
    "equals the engine's own simple case folding in every code point",
    () => {
      const different: number[] = [];
      for (let codePoint = 1; codePoint <= 0x10ffff; codePoint++) {
        if (isSurrogate(codePoint)) continue;
        if (foldCodePoint(codePoint) !== engineFold(codePoint)) different.push(codePoint);
      }
      expect(different).toEqual([]);
    },
  );

  test.runIf(process.versions['unicode'] === caseFoldingUnicodeVersion)(
    'makes equal exactly the characters that case-insensitive regular expressions find equal',
    () => {
      const cased: string[] = [];
      for (let codePoint = 1; codePoint <= 0x10ffff; codePoint++) {
        const text = String.fromCodePoint(codePoint);
        if (/\p{Changes_When_Casemapped}|\p{Changes_When_Casefolded}/u.test(text)) cased.push(text);
      }
      const all = cased.join('');
      const byFold = Map.groupBy(cased, foldText);
      for (const text of cased) {
        const equal = all.match(new RegExp(`\\u{${text.codePointAt(0)!.toString(16)}}`, 'giu'));
        expect(byFold.get(foldText(text))).toEqual(equal);
      }
    },
  );
});

describe('folded UTF-8', () => {
  test('is the UTF-8 of the folded text, and null if nothing changes', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('a', 'B', '\0', 'ſ', 'Ⱥ', '\u212a', '𐐀', '€', 'ẞ', '😀', 'é', 'Ꭰ') }),
    );
    fc.assert(
      fc.property(text, (value) => {
        const bytes = utf8(value);
        const folded = foldUtf8(bytes);
        expect(folded === null).toBe(foldText(value) === value);
        expect(folded ?? bytes).toEqual(utf8(foldText(value)));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('never fails on bytes that are not UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ max: 0xff, maxLength: 40 }), (bytes) => {
        expect(() => foldUtf8(bytes)).not.toThrow();
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});
