import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { passagesOf } from '#search/seal/passages-builder.ts';
import { PostingsBuilder } from '#search/seal/postings-builder.ts';
import { Passages } from '#search/segments/passages.ts';
import { windowIds } from '#search/segments/postings-layout.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

type Texts = ReadonlyMap<number, string>;

const builder = new PostingsBuilder();

/** The passages of texts by offset. */
function passagesIn(texts: Texts, frequentMin: number): Passages | null {
  const utf8 = [...texts].map(([offset, text]) => [offset, new TextEncoder().encode(text)] as const);
  builder.clear();
  for (const [offset, text] of utf8) builder.add(offset, text);
  const block = passagesOf(
    (each) => {
      for (const [offset, text] of utf8) if (!each(offset, text)) break;
    },
    texts.size,
    frequentMin,
    (least) => builder.frequentGrams(least),
  );
  return block === null ? null : new Passages(Buffer.from(block));
}

/** Offsets of the texts that can contain a needle, by its parts in passages. Null: there are no such parts. */
function withParts(passages: Passages | null, needle: string): number[] | null {
  const { parts } = passages?.questionOf(Buffer.from(needle)) ?? { parts: [] };
  if (parts.length === 0) return null;
  const sets = parts.map((part) => {
    const bits = new Uint8Array(windowIds / 8);
    passages?.addTexts(part, bits);
    return new Set(
      [...bits].flatMap((byte, at) =>
        [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte >>> bit) & 1).map((bit) => at * 8 + bit),
      ),
    );
  });
  return [...sets.reduce((one, other) => one.intersection(other))].toSorted((one, other) => one - other);
}

/** Offsets of the texts that contain a needle. Null: there are no passages, or they do not decide it. */
const matches = (passages: Passages | null, needle: string): number[] | null =>
  passages?.questionOf(Buffer.from(needle)).isExact === true ? withParts(passages, needle) : null;

const scan = (texts: Texts, needle: string): number[] =>
  [...texts].filter(([, text]) => text.includes(needle)).map(([offset]) => offset);

const gramsOf = (text: string): string[] => {
  const points = Array.from(text);
  return points.slice(2).map((_, at) => points.slice(at, at + 3).join(''));
};

const piece = fc.constantFrom('":"', 'brc-20', '"op', 'ab', 'é€', '😀', ',', ' ');
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

describe('the passages of a segment', () => {
  test('have exactly the texts that contain a needle of frequent grams', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: windowIds - 1 }), text), { maxLength: 60 }),
        fc.array(text, { minLength: 5, maxLength: 5 }),
        fc.integer({ min: 1, max: 5 }),
        (entries, needles, frequentMin) => {
          const texts = new Map(entries.toSorted((a, b) => a[0] - b[0]));
          const passages = passagesIn(texts, frequentMin);
          const parts = entries.map(([, whole]) => Array.from(whole).slice(1, 7).join(''));
          for (const needle of [...needles, ...parts]) {
            if (Array.from(needle).length < 4) continue;
            const found = matches(passages, needle);
            if (found !== null) expect(found).toEqual(scan(texts, needle));
            const possible = withParts(passages, needle);
            if (possible !== null) expect(possible).toEqual(expect.arrayContaining(scan(texts, needle)));
          }
        },
      ),
      { numRuns: propertyRuns(60) },
    );
  });

  test('tell of each needle within them', () => {
    const texts = new Map<number, string>();
    for (let offset = 0; offset < 2000; offset++) {
      texts.set(offset * 30, `{"p":"brc-20","op":"${offset % 2 === 0 ? 'mint' : 'burn'}"}${offset}`);
    }
    const passages = passagesIn(texts, 256);
    for (const needle of ['{"p":"brc-20"', '"op":"mint"}', 'brc-20","op":"b', 'rc-2']) {
      expect(matches(passages, needle)).toEqual(scan(texts, needle));
      expect(gramsOf(needle).length).toBeGreaterThan(1);
    }
    // each gram is in all texts, but they do not follow each other
    expect(matches(passages, '"op":"brc')).toEqual([]);
    // no passage has the grams of rare digits, but one ends before them
    expect(matches(passages, 'mint"}1998')).toBeNull();
    expect(withParts(passages, 'mint"}1998')).toContain(1998 * 30);
    expect(withParts(passages, 'brc-20"1998')).toEqual([]);
    expect(withParts(passages, '1998"p":"brc')).toEqual([]);
  });

  test('need texts enough, and grams that follow each other', () => {
    const alike = (count: number, value: (offset: number) => string): Texts =>
      new Map(Array.from({ length: count }, (_, offset) => [offset, value(offset)]));
    expect(
      passagesIn(
        alike(255, () => 'alike'),
        256,
      ),
    ).toBeNull();
    expect(
      matches(
        passagesIn(
          alike(256, () => 'alike'),
          256,
        ),
        'like',
      ),
    ).toHaveLength(256);
    expect(
      passagesIn(
        alike(300, () => 'abc'),
        256,
      ),
    ).toBeNull();
  });

  test('are of more frequent grams where there would be too many passages', () => {
    // each part has one of 40 words, so each word is in a tenth of the texts, and 40 * 40 * 40 orders are possible
    const words = Array.from({ length: 40 }, (_, at) => String.fromCodePoint(0x4e00 + at).repeat(3));
    const texts = new Map<number, string>();
    for (let offset = 0; offset < 12_000; offset++) {
      const parts = [offset % 40, Math.floor(offset / 40) % 40, Math.floor(offset / 1600) % 40, 7];
      texts.set(offset, `begins ${parts.map((at) => words[at]).join('')}`);
    }
    const passages = passagesIn(texts, 256);
    expect(matches(passages, 'begins')).toHaveLength(12_000);
    expect(matches(passages, words[3] + (words[4] as string))).toBeNull();
  });

  test('are left out where they cannot be few', () => {
    const texts = new Map<number, string>();
    for (let offset = 0; offset < 6000; offset++) {
      // the digits 0 to 3 in 64 random places: each gram is in most texts
      let digits = '';
      for (let at = 0, state = offset * 7919 + 1; at < 64; at++) {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        digits += String(state >>> 30);
      }
      texts.set(offset, digits);
    }
    expect(passagesIn(texts, 256)).toBeNull();
  });
});
