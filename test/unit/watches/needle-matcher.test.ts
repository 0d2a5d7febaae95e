import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { NeedleMatcher } from '#watches/matching/needle-matcher.ts';

/** The numbers of needles that occur in a text, found by one scan for each needle. */
const scanned = (needles: readonly Uint8Array[], text: Uint8Array): number[] =>
  needles.flatMap((needle, nth) => (Buffer.from(text).includes(Buffer.from(needle)) ? [nth] : []));

function matched(matcher: NeedleMatcher, text: Uint8Array): number[] {
  const found: number[] = [];
  matcher.match(text, (needle) => found.push(needle));
  return found.toSorted((a, b) => a - b);
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('needles found in one pass', () => {
  test('equal those of one scan for each, text after text', () => {
    // few letters make needles that overlap, repeat, and share their windows
    const letters = fc.constantFrom('a', 'b', '{');
    const needle = fc.string({ unit: letters, minLength: 1, maxLength: 20 }).map(bytes);
    const text = fc.string({ unit: letters, maxLength: 300 }).map(bytes);
    fc.assert(
      fc.property(
        fc.array(needle, { maxLength: 60 }),
        fc.array(text, { minLength: 1, maxLength: 4 }),
        (needles, texts) => {
          const matcher = new NeedleMatcher(needles);
          expect(matcher.size).toBe(needles.length);
          for (const each of texts) expect(matched(matcher, each)).toEqual(scanned(needles, each));
        },
      ),
      { numRuns: propertyRuns(2000) },
    );
  });

  test('are found at both ends of a text and in any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 400 }),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 40 })), { maxLength: 40 }),
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 12 }), { maxLength: 40 }),
        (text, parts, others) => {
          const own = parts.map(([start, length]) => {
            const from = start % text.length;
            return text.slice(from, from + length);
          });
          const needles = [text, ...own, ...others];
          expect(matched(new NeedleMatcher(needles), text)).toEqual(scanned(needles, text));
        },
      ),
      { numRuns: propertyRuns(1000) },
    );
  });

  test.each([
    ['no needles', [], 'a text', []],
    ['an empty text', ['a', 'ab', 'abcd', 'abcdefgh'], '', []],
    ['a text shorter than each needle', ['abcd', 'abcdefgh'], 'abc', []],
    ['needles that are the whole text', ['abcdefgh', 'abcdefg', 'a'], 'abcdefgh', [0, 1, 2]],
    ['equal needles', ['same', 'same'], 'the same', [0, 1]],
    ['a needle that begins again inside of itself', ['aabaaab'], 'aabaabaaab', [0]],
  ])('%s', (_, needles, text, expected) => {
    expect(matched(new NeedleMatcher(needles.map(bytes)), bytes(text))).toEqual(expected);
  });

  test('of any length, also above 65,535 bytes', () => {
    const long = bytes('x'.repeat(70_000).concat('end'));
    const matcher = new NeedleMatcher([long, bytes('end')]);
    expect(matched(matcher, bytes('x'.repeat(70_001).concat('end')))).toEqual([0, 1]);
    expect(matched(matcher, bytes('x'.repeat(69_999).concat('end')))).toEqual([1]);
  });

  test('an empty needle is refused', () => {
    expect(() => new NeedleMatcher([bytes('')])).toThrow('at least one byte');
  });
});

test('10,000 needles take at most 100 bytes each beyond their own', () => {
  for (const text of ['', '{"p":"brc-20","op":"mint","tick":"', 'needle with some words '])
    for (const count of [1_000, 10_000]) {
      const needles = Array.from({ length: count }, (_, nth) => bytes(text.concat(String(nth))));
      const matcher = new NeedleMatcher(needles);
      expect(matcher.tableBytes / count).toBeLessThan(100);
    }
});

test('all needles of a chain are found in a text that has nothing else', () => {
  // needles whose only window is the same
  const needles = Array.from({ length: 500 }, (_, nth) => bytes('a'.repeat(nth + 8)));
  const matcher = new NeedleMatcher(needles);
  const found = matched(matcher, bytes('a'.repeat(100_000)));
  expect(found).toHaveLength(500);
  expect(matched(matcher, bytes('a'.repeat(100)))).toHaveLength(93);
});
