import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldTypesOf, placeOf, sellablePlace, standingOf } from '#inventory/inventory-standing.ts';
import {
  defaultBaseFees,
  inventoryTypeOf,
  inventoryTypes,
  parseBaseFees,
} from '#inventory/inventory-types.ts';
import { TypeRules } from '#inventory/type-rules.ts';
import { satributeId } from '#kernel/satributes/definitions.ts';
import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatributeRule } from '#kernel/satributes/satribute.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { readSatributeFile } from '#kernel/satributes/satribute-file.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const block = 5_000_000_000;
const rules = new TypeRules(new SatributeBook('mainnet'));
/** An output whose ranges have these starts and sizes. */
const output = (...ranges: readonly (readonly [start: number, size: number])[]) => ({
  ranges: ranges.map(([start, size]) => ({ start, end: start + size })),
});
const standing = (...outputs: readonly ReturnType<typeof output>[]) =>
  standingOf(
    outputs.map(({ ranges }) => heldTypesOf(ranges, defaultBaseFees, rules)),
    defaultBaseFees,
  );

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

test('an output can be ordered from once, if what is left of it can be outputs', () => {
  const rows = [
    [1, 0],
    [546, 1],
    // 54 sats would be left, which are too few for an output
    [600, 0],
    [876, 1],
    [10_000, 1],
  ] as const;
  for (const [size, count] of rows) {
    // the range does not begin with the block's first sat, which is uncommon too
    const { block78 } = standing(output([78 * block + 1_000, size]));
    expect(block78).toMatchObject({ amount: size, count, commonCount: 1 });
  }
  // the uncommon sat comes after 100 sats, which are too few for an output
  const { uncommon } = standing(output([100_001 * block - 100, 10_000]));
  expect(uncommon).toMatchObject({ amount: 1, count: 0, commonCount: 1 });
});

test('the place of a sat leaves outputs before it and after its postage, or nothing', () => {
  const rule = rules.of('uncommon')!;
  const dense = rules.of('block78')!;
  const early = rules.of('vintage')!;
  expect(placeOf([{ start: 500 * block, end: 500 * block + 546 }], rule, 546, [])).toEqual({
    place: 0,
    sat: 500 * block,
  });
  expect(placeOf([{ start: 500 * block - 330, end: 500 * block + 876 }], rule, 546, [])).toEqual({
    place: 330,
    sat: 500 * block,
  });
  // if there are many sats of a type, the first one that can be taken is used
  const ranges = [
    { start: 400 * block + 1, end: 400 * block + 101 },
    { start: 78 * block + 1, end: 78 * block + 1_000 },
  ];
  expect(placeOf(ranges, dense, 330, [])).toEqual({ place: 330, sat: 78 * block + 231 });
  // all sats from block 150 on are more expensive, and so is the last sat of each block
  const dearer: SatributeRule[] = [
    { kind: 'blocks', heights: [[150, 1_000]] },
    { kind: 'lasts', before: ['uncommon'] },
  ];
  const someRanges = fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 900 })), {
    minLength: 1,
    maxLength: 4,
  });
  let found = 0;
  fc.assert(
    fc.property(someRanges, fc.integer({ min: 330, max: 1_000 }), fc.boolean(), (parts, postage, isFirst) => {
      const wantedRule = isFirst ? rule : early;
      const held = parts.map(([height, size], at) => ({
        start: height * block - at * 100,
        end: height * block - at * 100 + size,
      }));
      const given = held.filter(({ start }) => start >= 0);
      const sats = given.flatMap(({ start, end }) =>
        Array.from({ length: end - start }, (_, at) => start + at),
      );
      const holds = (one: SatributeRule, sat: number): boolean =>
        countWithin(one, { start: sat, end: sat + 1 }) === 1;
      const isDearer = sats.map((sat) => dearer.some((one) => holds(one, sat)));
      const wanted = sats.findIndex(
        (sat, place) =>
          [place, sats.length - place - postage].every((rest) => rest === 0 || rest >= 330) &&
          holds(wantedRule, sat) &&
          !isDearer.slice(place, place + postage).includes(true),
      );
      const place = placeOf(given, wantedRule, postage, dearer);
      expect(place).toEqual(wanted === -1 ? null : { place: wanted, sat: sats[wanted] });
      if (place !== null) found++;
    }),
    { numRuns: propertyRuns(300) },
  );
  expect(found).toBeGreaterThan(4);
});

test('no sat of a type with a higher price is sold for a lower one', () => {
  // the first sat of the output is uncommon
  const start = 500 * block;
  const { vintage, uncommon } = standing(output([start, 10_000]));
  expect([vintage.count, uncommon.count]).toEqual([1, 1]);
  const terms = { postage: 546, fees: defaultBaseFees, rules } as const;
  expect(sellablePlace([{ start, end: start + 10_000 }], 'vintage', terms)).toEqual({
    place: 330,
    sat: start + 330,
  });
  expect(sellablePlace([{ start, end: start + 10_000 }], 'uncommon', terms)?.place).toBe(0);
  // this output has no other place from which a sat can be sold
  expect(standing(output([start, 546]))).toMatchObject({ vintage: { count: 0 }, uncommon: { count: 1 } });
  // the operator can set prices, and here uncommon costs no more than vintage
  const fees = { ...defaultBaseFees, uncommon: 5_000 };
  expect(sellablePlace([{ start, end: start + 546 }], 'vintage', { ...terms, fees })?.place).toBe(0);
  // Sats of block 286 are also vintage and Nakamoto's, which cost more, but block 286 is sold at its own price. Its
  // first sat is not sold at this price.
  expect(sellablePlace([{ start: 286 * block, end: 286 * block + 10_000 }], 'block286', terms)?.place).toBe(
    330,
  );
  // a complete block is skipped at once
  const ranges = [{ start: 9 * block, end: 10 * block + 10_000 }];
  expect(sellablePlace(ranges, 'vintage', terms)).toEqual({ place: block + 1, sat: 10 * block + 1 });
});

test('types with unlisted sats have none, and on another network nor do those of mainnet', () => {
  const all = output([0, 21 * block]);
  const { hitman, legacy, pizza, silkroad, nakamoto, vintage } = standing(all);
  for (const type of [hitman, legacy, pizza, silkroad]) expect(type).toMatchObject({ amount: 0, count: 0 });
  expect(nakamoto.count).toBeGreaterThan(0);
  expect(vintage.amount).toBe(21 * block);
  const onRegtest = [heldTypesOf(all.ranges, defaultBaseFees, new TypeRules(new SatributeBook('regtest')))];
  expect(standingOf(onRegtest, defaultBaseFees).nakamoto.count).toBe(0);
});

test('as many can be ordered as there are outputs with sats at most', () => {
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
        expect(commonCount).toBeLessThanOrEqual(amount);
        expect(count).toBeLessThanOrEqual(commonCount);
        // orders use each output independently of the others
        const alone = outputs.map((each) => standing(each)[type].count);
        expect(alone.reduce((sum, each) => sum + each, 0)).toBe(count);
      }
    }),
    { numRuns: propertyRuns(100) },
  );
});

test('prices are read from a setting, and mistakes in it are refused', () => {
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

test('a type has its key and the name of its satribute', () => {
  for (const type of inventoryTypes) {
    expect(inventoryTypeOf(type)).toBe(type);
    expect(inventoryTypeOf(satributeId(type)!)).toBe(type);
  }
  expect(inventoryTypes.some((type) => satributeId(type) !== type)).toBe(true);
  for (const text of ['random', 'gold', 'epic', '']) expect(inventoryTypeOf(text)).toBeNull();
});

test('a type with a list of the operator’s is counted and sold by it', () => {
  const file = readSatributeFile(
    JSON.stringify([
      { id: 'legacy', version: 1, origin: 'us', ranges: [[400 * block + 1_000, 400 * block + 9_000]] },
    ]),
  );
  const own = file.kind === 'read' ? file.satributes : [];
  const ranges = [{ start: 400 * block + 1, end: 400 * block + 5_000 }];
  expect(standing({ ranges }).legacy.amount).toBe(0);
  const listed = new TypeRules(new SatributeBook('mainnet', own));
  expect(heldTypesOf(ranges, defaultBaseFees, listed).get('legacy')).toEqual({
    amount: 4_000,
    place: { place: 999, sat: 400 * block + 1_000 },
  });
  expect(listed.isPartOf('legacy', 'vintage')).toBe(true);
  expect(listed.isPartOf('vintage', 'legacy')).toBe(false);
});
