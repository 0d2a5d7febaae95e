import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { qrCode, qrPath } from '#web/assets/script/order/qr-code.js';

type Code = readonly (readonly boolean[])[];

const codewordsOf = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346];
const blocksOf = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
] as const;

/** Coordinates of the centres of alignment patterns; rows and columns have the same. */
function centresOf(size: number): number[] {
  const last = size - 7;
  if (size === 21) return [];
  return size < 45 ? [last] : [6, (6 + last) / 2, last];
}

/** Whether a module is not data. Derived from the standard in another way than in the encoder. */
function isPattern(size: number, row: number, column: number): boolean {
  const [low, high] = [Math.min(row, column), Math.max(row, column)];
  // corners with format bits, timing patterns, and version bits from version 7 on
  const isCorner = high < 9 || (low < 9 && high >= size - 8);
  const isVersion = size >= 45 && low < 6 && high >= size - 11;
  if (isCorner || row === 6 || column === 6 || isVersion) return true;
  const centres = centresOf(size);
  const last = size - 7;
  return centres.some((y) =>
    centres.some((x) => {
      const isInCorner = (y === 6 && x === 6) || (y === 6 && x === last) || (y === last && x === 6);
      return !isInCorner && Math.abs(row - y) <= 2 && Math.abs(column - x) <= 2;
    }),
  );
}

const masks: readonly ((i: number, j: number) => boolean)[] = [
  (i, j) => (i + j) % 2 === 0,
  (i) => i % 2 === 0,
  (_, j) => j % 3 === 0,
  (i, j) => (i + j) % 3 === 0,
  (i, j) => (Math.floor(i / 2) + Math.floor(j / 3)) % 2 === 0,
  (i, j) => ((i * j) % 2) + ((i * j) % 3) === 0,
  (i, j) => (((i * j) % 2) + ((i * j) % 3)) % 2 === 0,
  (i, j) => (((i + j) % 2) + ((i * j) % 3)) % 2 === 0,
];

const times = (left: number, right: number): number => {
  let [product, factor] = [0, left];
  for (let bits = right; bits > 0; bits >>= 1) {
    if (bits & 1) product ^= factor;
    factor = factor < 128 ? factor << 1 : (factor << 1) ^ 0x11d;
  }
  return product;
};

/** The mask that the format bits of a code name. */
function maskOf(code: Code): (i: number, j: number) => boolean {
  const bits = Array.from({ length: 15 }, (_, bit) =>
    Number(bit < 6 ? code[bit]![8]! : bit < 10 ? false : code[8]![14 - bit]!),
  );
  // bits 6 to 9 are error correction
  const told = (bits.reduce((sum, bit, place) => sum + bit * 2 ** place, 0) ^ 0x5412) >> 10;
  expect(told >> 3).toBe(0);
  return masks[told & 7]!;
}

/** The data bits of a code in order, with the mask removed. */
function bitsOf(code: Code): number[] {
  const size = code.length;
  const mask = maskOf(code);
  const columns = Array.from({ length: size }, (_, column) => size - 1 - column).filter(
    (column) => column !== 6,
  );
  return columns.flatMap((right, place) => {
    if (place % 2 === 1) return [];
    const rows = [...code.keys()];
    const order = place % 4 === 0 ? rows.toReversed() : rows;
    return order.flatMap((row) =>
      [right, columns[place + 1]!]
        .filter((column) => !isPattern(size, row, column))
        .map((column) => Number(code[row]![column]!) ^ Number(mask(row, column))),
    );
  });
}

const numberIn = (bits: readonly number[], first: number, width: number): number =>
  bits.slice(first, first + width).reduce((value, bit) => 2 * value + bit, 0);

/** The blocks of data in a code, and the error correction of each. */
function blocksIn(code: Code): { data: number[]; correction: number[] }[] {
  const version = (code.length - 17) / 4;
  const bits = bitsOf(code);
  const codewords = Array.from({ length: codewordsOf[version - 1]! }, (_, index) =>
    numberIn(bits, 8 * index, 8),
  );
  const [correction, count] = blocksOf[version - 1]!;
  const dataCount = codewords.length - correction * count;
  const short = Math.floor(dataCount / count);
  const shorts = count - (dataCount % count);
  return Array.from({ length: count }, (_, block) => ({
    data: [
      ...Array.from({ length: short }, (_each, place) => codewords[place * count + block]!),
      ...(block < shorts ? [] : [codewords[short * count + block - shorts]!]),
    ],
    correction: Array.from(
      { length: correction },
      (_each, place) => codewords[dataCount + place * count + block]!,
    ),
  }));
}

/** Syndromes of a block. All are 0 if its error correction is right. */
function syndromesOf(block: readonly number[], count: number): number[] {
  const syndromes: number[] = [];
  for (let place = 0, root = 1; place < count; place++, root = times(root, 2))
    syndromes.push(block.reduce((sum, codeword) => times(sum, root) ^ codeword, 0));
  return syndromes;
}

/** Reads a code by the standard, and computes the syndromes of its blocks. */
function read(code: Code): { text: string; syndromes: number[] } {
  const blocks = blocksIn(code);
  const syndromes = blocks.flatMap(({ data, correction }) =>
    syndromesOf([...data, ...correction], correction.length),
  );
  const bits = blocks.flatMap(({ data }) =>
    data.flatMap((byte) => Array.from({ length: 8 }, (_, bit) => (byte >> (7 - bit)) & 1)),
  );
  expect(numberIn(bits, 0, 4)).toBe(4);
  const width = code.length < 57 ? 8 : 16;
  const bytes = Array.from({ length: numberIn(bits, 4, width) }, (_, index) =>
    numberIn(bits, 4 + width + 8 * index, 8),
  );
  return { text: Buffer.from(bytes).toString(), syndromes };
}

describe('a QR code', () => {
  test('has the text, and corrections without a remainder, in each version', () => {
    const versions = new Set<number>();
    // the lengths of each version span 15 or more, so steps of 9 reach every version
    for (let length = 0; length <= 213; length += 9) {
      const text = 'bitcoin:bcrt1p'.repeat(20).slice(0, length);
      const code = qrCode(text)!;
      versions.add((code.length - 17) / 4);
      const { text: found, syndromes } = read(code);
      expect(found).toBe(text);
      expect(new Set(syndromes)).toEqual(new Set([0]));
    }
    expect([...versions]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('has any text that fits, and is null for a longer one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 240 }), (text) => {
        const code = qrCode(text);
        expect(code === null).toBe(Buffer.byteLength(text) > 213);
        if (code !== null) expect(read(code).text).toBe(text);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('is drawn as squares of one unit', () => {
    expect(
      qrPath([
        [true, false],
        [false, true],
      ]),
    ).toBe('M0 0h1v1h-1zM1 1h1v1h-1z');
  });

  test('equals that of a public library', () => {
    // made by qr 0.7.0 (npm, Paul Miller): encodeQR('a', 'raw', {ecc: 'medium', encoding: 'byte'}), with rows as
    // numbers
    const rows = qrCode('a')!.map((row) => Number.parseInt(row.map(Number).join(''), 2));
    expect(rows).toEqual(libraryRows);
  });
});

const libraryRows: readonly number[] = [
  2083711, 1070657, 1530461, 1529437, 1526109, 1066561, 2086271, 6144, 1070798, 1246137, 380256, 701418,
  1735679, 6405, 2084510, 1066055, 1527452, 1526760, 1526715, 1066984, 2086182,
];
