import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PostingsBuilder } from '#search/seal/postings-builder.ts';
import { addPostings, findPostings, keepOffsets } from '#search/segments/postings-block.ts';
import { type Gram, gramKey, windowIds } from '#search/segments/postings-layout.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

type Blocks = ReturnType<PostingsBuilder['finish']>;

/** The grams of a text, found by a scan. */
function gramsOf(text: string): Gram[] {
  const points = Array.from(text, (character) => character.codePointAt(0)!);
  return points.flatMap((last, at): Gram[] => [
    [0, 0, last],
    ...(at > 0 ? [[0, points[at - 1]!, last] as const] : []),
    ...(at > 1 ? [[points[at - 2]!, points[at - 1]!, last] as const] : []),
  ]);
}

/** One builder for all segments, as in a thread that seals. Nothing of an earlier segment may stay in it. */
const builder = new PostingsBuilder();

function build(texts: ReadonlyMap<number, string>): Blocks {
  builder.clear();
  for (const [offset, text] of texts) builder.add(offset, new TextEncoder().encode(text));
  return builder.finish();
}

const firstKeysOf = ({ firstGrams }: Blocks): bigint[] =>
  firstGrams.map(([high, low]) => (BigInt(high) << 32n) | BigInt(low >>> 0));

function offsetsOf(blocks: Blocks, firstKeys: readonly bigint[], gram: Gram): number[] {
  const key = gramKey(gram);
  const index = firstKeys.findLastIndex((first) => first <= key);
  if (index < 0) return [];
  const postings = findPostings(blocks.bytes.subarray(blocks.starts[index], blocks.starts[index + 1]), gram);
  if (postings === null) return [];
  const bits = new Uint8Array(windowIds / 8);
  addPostings(postings, bits);
  const offsets: number[] = [];
  for (let byte = bits.findIndex((value) => value !== 0); byte < bits.length && byte >= 0; byte++) {
    if (bits[byte] === 0) continue;
    for (let bit = 0; bit < 8; bit++) if ((bits[byte]! >>> bit) & 1) offsets.push(byte * 8 + bit);
  }
  return offsets;
}

function expectExact(texts: ReadonlyMap<number, string>, others: readonly Gram[] = []): void {
  const blocks = build(texts);
  const expected = new Map<string, number[]>();
  for (const [offset, text] of texts) {
    for (const gram of gramsOf(text)) {
      const offsets = expected.get(gram.join()) ?? [];
      if (offsets.at(-1) !== offset) offsets.push(offset);
      expected.set(gram.join(), offsets);
    }
  }
  const firstKeys = firstKeysOf(blocks);
  // compared at once, because there are tens of thousands
  const found = new Map(
    Array.from(expected.keys(), (gram) => [
      gram,
      offsetsOf(blocks, firstKeys, gram.split(',').map(Number) as unknown as Gram).join(),
    ]),
  );
  const wrong = [...expected].filter(([gram, offsets]) => found.get(gram) !== offsets.join());
  expect(wrong).toEqual([]);
  for (const gram of others) {
    if (!expected.has(gram.join())) expect(offsetsOf(blocks, firstKeys, gram)).toEqual([]);
  }
  for (const [index, start] of blocks.starts.slice(0, -1).entries()) {
    expect(blocks.starts[index + 1]! - start).toBeLessThanOrEqual(8100);
  }
}

const character = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('a', 'b', '"', ':', ' ', '\u007f', 'é', '€', '😀', '\u{10ffff}', '\uffff'),
  },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((c) => c !== '\0'),
  },
);
const text = fc.string({ unit: character, maxLength: 30 });
const codePoint = fc.constantFrom(0x20, 0x61, 0x7f, 0x80, 0x20ac, 0x1f600, 0x10ffff);

describe('the postings of a segment', () => {
  test('say for every gram exactly which texts have it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: windowIds - 1 }), text), { maxLength: 30 }),
        fc.array(fc.tuple(codePoint, codePoint, codePoint), { maxLength: 5 }),
        (entries, others) => {
          expectExact(new Map(entries.toSorted((a, b) => a[0] - b[0])), others);
        },
      ),
      { numRuns: propertyRuns(40) },
    );
  });

  test('are exact over a whole window, for grams of every frequency', () => {
    const texts = new Map<number, string>();
    for (let offset = 0; offset < windowIds; offset++) {
      let value = 'x';
      for (const [every, letter] of [
        [1, '1'],
        [2, '2'],
        [3, 'é'],
        [7, '7'],
        [9, '9'],
        [100, '😀'],
        [5000, 'r'],
      ] as const) {
        if (offset % every === 0) value += letter;
      }
      texts.set(offset, value);
    }
    expectExact(texts, [[0, 0, 0x7a]]);
  });

  test('keep of some texts exactly those that have the gram, as a list and as a bitmap', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat({ max: windowIds - 1 }), { maxLength: 50 }),
        fc.uniqueArray(fc.nat({ max: windowIds - 1 }), { maxLength: 50 }),
        fc.constantFrom(1, 3, 1000),
        (rare, others, every) => {
          const has = (offset: number): boolean => rare.includes(offset) || offset % every === 1 % every;
          const texts = new Map<number, string>();
          for (let offset = 0; offset < 8000; offset++) if (has(offset)) texts.set(offset, 'abc');
          for (const offset of rare.toSorted((a, b) => a - b)) if (offset >= 8000) texts.set(offset, 'abc');
          const { bytes } = build(texts);
          const gram: Gram = [0x61, 0x62, 0x63];
          const asked = [...new Set([...rare, ...others, 0, 1, 7999])].toSorted((a, b) => a - b);
          const offsets = Uint16Array.from(asked);
          const postings = findPostings(bytes, gram);
          const kept = postings === null ? 0 : keepOffsets(postings, offsets, asked.length);
          expect([...offsets.subarray(0, kept)]).toEqual(asked.filter((offset) => texts.has(offset)));
        },
      ),
      { numRuns: propertyRuns(20) },
    );
  });

  test('fill many blocks where the grams are many', () => {
    const texts = new Map<number, string>();
    for (let offset = 0; offset < 2000; offset++) {
      texts.set(offset * 7, String.fromCodePoint(0x4e00 + offset, 0x4e00 + ((offset * 31) % 5000), 0x61));
    }
    expectExact(texts);
    expect(build(texts).firstGrams.length).toBeGreaterThan(3);
  });

  test('without texts have no blocks', () => {
    expect(build(new Map([[3, '']])).firstGrams).toEqual([]);
  });
});
