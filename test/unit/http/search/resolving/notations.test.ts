import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Notation, readNotations } from '#http/search/resolving/notations.ts';
import { isOrderId } from '#http/search/resolving/order-id.ts';
import { networks } from '#kernel/primitives/network.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { satNotations } from '#kernel/sats/notation.ts';
import { asSat, lastSat } from '#kernel/sats/sat.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const network = networks.mainnet;
const read = (text: string): Notation[] => readNotations(text, network);
const kinds = (text: string): string[] => read(text).map(({ kind }) => kind);
const satsOf = (text: string): (number | null)[] =>
  read(text).flatMap((notation) => (notation.kind === 'sat' ? [notation.sat] : []));
const runesOf = (text: string): bigint[] =>
  read(text).flatMap((notation) => (notation.kind === 'rune' ? [notation.rune] : []));

const hex = 'Ab'.repeat(32);

test.each([
  [hex, ['hash']],
  [`${hex}i0`, ['inscription id']],
  [`${hex}i4294967296`, ['inscription id']],
  [`${hex}:7`, ['outpoint']],
  [`${hex}:7:1`, ['satpoint']],
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', ['address']],
  ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', ['address']],
  // an address of another network is only a text
  ['bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', ['name']],
  ['5', ['number', 'sat', 'name']],
  ['840,672', ['number', 'sat', 'name']],
  ['#5', ['number', 'name']],
  ['-5', ['number', 'name']],
  ['840000:1', ['rune id', 'name']],
  ['ordi', ['rune', 'sat', 'name']],
  ['Ordi', ['rune', 'name']],
  ['dog go to the moon', ['rune', 'name']],
  ['50%', ['sat', 'name']],
  ['1.5', ['sat', 'name']],
  ['"p":"brc-20"', ['name']],
  ['😀', []],
  ['   ', []],
  ['x'.repeat(201), []],
])('%s can be: %j', (text, expected) => {
  expect(kinds(text)).toEqual(expected);
});

test('an address is read from a payment link, and in capitals', () => {
  const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
  for (const text of [
    address.toUpperCase(),
    `bitcoin:${address}?amount=0.1&label=a%20b`,
    `BITCOIN:${address.toUpperCase()}`,
  ])
    expect(read(text)).toEqual([{ kind: 'address', address }]);
  const old = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2';
  expect(read(`bitcoin:${old}`)).toEqual([{ kind: 'address', address: old }]);
  expect(kinds(`bitcoin:${address}x`)).toEqual(['name']);
});

test('a number may mean an inscription and a height, within their ranges', () => {
  expect(read('840,672')[0]).toEqual({
    kind: 'number',
    inscription: 840_672,
    height: 840_672,
    isMarked: false,
  });
  expect(read('#7')[0]).toEqual({ kind: 'number', inscription: 7, height: null, isMarked: true });
  expect(read('-7')[0]).toEqual({ kind: 'number', inscription: -7, height: null, isMarked: false });
  expect(read('1'.repeat(63))[0]).toEqual({
    kind: 'number',
    inscription: null,
    height: null,
    isMarked: false,
  });
  expect(satsOf('1,923,456,789,012,345')).toEqual([1_923_456_789_012_345]);
});

test('every notation of a sat is read as that sat', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: lastSat }), (number) => {
      const { name, decimal, degree } = satNotations(asSat(number));
      const typed = degree.replace('′', "'").replace('″', '"').replace('‴', "'''");
      for (const text of [String(number), name, decimal, degree, typed, ` ${degree} `])
        expect(satsOf(text)).toEqual([number]);
    }),
    { numRuns: propertyRuns(200) },
  );
  // a percentile does not always convert back to the same sat
  expect(satsOf('0%')).toEqual([0]);
  expect(satsOf('100%')).toEqual([lastSat]);
  expect(satsOf('100.1%')).toEqual([null]);
});

test('any case and any spacers of a rune are read as that rune', () => {
  const spacers = fc.constantFrom('', '•', '.', ' ', '-', '·');
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
      fc.nat(2 ** 27 - 1),
      spacers,
      (value, places, between) => {
        const rune = asRune(value);
        const spaced = formatSpacedRune({ rune, spacers: places }).replaceAll('•', between);
        for (const text of [spaced, spaced.toLowerCase(), formatSpacedRune({ rune, spacers: places })])
          expect(runesOf(text)).toEqual([value]);
      },
    ),
    { numRuns: propertyRuns(200) },
  );
  for (const text of ['A••B', '•A', 'A•', 'ÄB', 'ſ', '\u212a', 'A'.repeat(29)])
    expect(runesOf(text)).toEqual([]);
});

test('any text is read', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdefi:#-,.•°′″‴% A')) }),
  );
  fc.assert(
    fc.property(text, (given) => {
      const notations = read(given);
      expect(notations.length).toBeLessThanOrEqual(5);
      for (const notation of notations)
        if (notation.kind === 'name') expect(notation.name).not.toContain('\0');
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('the id of an order is recognised alone and at the end of a link', () => {
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  for (const text of [
    id,
    ` ${id.toUpperCase()} `,
    `/order#${id}`,
    `https://a.example/order?id=${id}`,
    `a/order/${id}`,
  ])
    expect(isOrderId(text)).toBe(true);
  for (const text of ['', `${id}0`, `see ${id}`, id.replaceAll('-', ''), `/orders/${id}`])
    expect(isOrderId(text)).toBe(false);
});
