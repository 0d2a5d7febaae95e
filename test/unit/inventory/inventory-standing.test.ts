import fc from 'fast-check';
import { expect, test } from 'vitest';
import { standingOf } from '#inventory/inventory-standing.ts';
import { defaultBaseFees, inventoryTypes, parseBaseFees } from '#inventory/inventory-types.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const block = 5_000_000_000;
/** Output of sats from `start` on. */
const output = (...ranges: readonly (readonly [start: number, size: number])[]) => ({
  ranges: ranges.map(([start, size]) => ({ start, end: start + size })),
});
const standing = (...outputs: readonly ReturnType<typeof output>[]) =>
  standingOf(outputs, defaultBaseFees, 'mainnet');

test('there are always the same 14 types with the same six numbers', () => {
  const nothing = standing();
  expect(Object.keys(nothing)).toEqual([
    'black',
    'block286',
    'block78',
    'block9',
    'block9450x',
    'block999',
    'hitman',
    'jpeg',
    'legacy',
    'nakamoto',
    'pizza',
    'silkroad',
    'uncommon',
    'vintage',
  ]);
  for (const [type, { baseFee, ...rest }] of Object.entries(nothing)) {
    expect({ type, baseFee }).toEqual({ type, baseFee: defaultBaseFees[type as 'black'] });
    expect(rest).toEqual({ amount: 0, commonCount: 0, count: 0, maxSize: 390_000, minSize: 100_000_000 });
  }
});

test('a single sat can be ordered once', () => {
  const { uncommon, black } = standing(output([100_000 * block, 10_000]));
  expect(uncommon).toEqual({
    amount: 1,
    baseFee: 40_000,
    commonCount: 1,
    count: 1,
    maxSize: 390_000,
    minSize: 1,
  });
  expect(black.count).toBe(0);
});

test('sats in a row can be ordered by the postage', () => {
  const rows = [
    [1, 1],
    [546, 1],
    [547, 2],
    [10_000, 19],
  ] as const;
  for (const [size, count] of rows) {
    // not from the first sat on, which is uncommon too
    const { block78 } = standing(output([78 * block + 1_000, size]));
    expect(block78).toMatchObject({ amount: size, count, commonCount: 1 });
  }
});

test('sats nearer to each other than the postage are ordered together', () => {
  // the last sat of a block, then the first of another: one is black, the other uncommon
  const near = output([100_001 * block - 1, 1], [100_500 * block, 1], [100_601 * block, 600]);
  const { uncommon, black } = standing(near);
  expect(uncommon).toMatchObject({ amount: 2, count: 1 });
  expect(black).toMatchObject({ amount: 1, count: 1 });
  const far = output([100_500 * block, 546], [100_601 * block, 600]);
  expect(standing(far).uncommon).toMatchObject({ amount: 2, count: 2 });
});

test('of types whose sats nobody lists there are none, and on another network none of mainnet’s', () => {
  const all = output([0, 21 * block]);
  const { hitman, jpeg, legacy, pizza, silkroad, nakamoto, vintage } = standing(all);
  for (const type of [hitman, jpeg, legacy, pizza, silkroad])
    expect(type).toMatchObject({ amount: 0, count: 0 });
  expect(nakamoto.count).toBeGreaterThan(0);
  expect(vintage.amount).toBe(21 * block);
  expect(standingOf([all], defaultBaseFees, 'regtest').nakamoto.count).toBe(0);
});

test('as many can be ordered as there are sats at most, and one from each output that has some', () => {
  const someOutput = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 1_000 * block }), fc.integer({ min: 1, max: 100_000 })), {
      minLength: 1,
      maxLength: 5,
    })
    .map((ranges) => output(...ranges));
  fc.assert(
    fc.property(fc.array(someOutput, { maxLength: 5 }), (outputs) => {
      const found = standing(...outputs);
      for (const type of inventoryTypes) {
        const { amount, count, commonCount } = found[type];
        expect(count).toBeLessThanOrEqual(amount);
        expect(count).toBeGreaterThanOrEqual(commonCount);
        // outputs are ordered from on their own
        const alone = outputs.map((each) => standing(each)[type].count);
        expect(alone.reduce((sum, each) => sum + each, 0)).toBe(count);
      }
    }),
    { numRuns: propertyRuns(100) },
  );
});

test('prices are read from a setting, and mistakes in it are none', () => {
  expect(parseBaseFees('uncommon:20000,pizza:0')).toEqual({ ...defaultBaseFees, uncommon: 20_000, pizza: 0 });
  for (const text of [
    '',
    'uncommon',
    'uncommon:',
    'shiny:1',
    'uncommon:-1',
    'uncommon:1.5',
    'uncommon:200000000',
  ])
    expect(parseBaseFees(text)).toBeNull();
});
