import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { networkNames } from '#kernel/primitives/network.ts';
import { builtInSatributes as satributes } from '#kernel/satributes/definitions.ts';
import { palindromeFrom, palindromesBelow } from '#kernel/satributes/palindromes.ts';
import { madeOutputName } from '#kernel/satributes/provenance.ts';
import { countWithin, rangesWithin } from '#kernel/satributes/rule-ranges.ts';
import { whyUnknown } from '#kernel/satributes/satribute.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { specialSats } from '#kernel/satributes/special-ranges.ts';
import { epochBlocks, firstSatAt } from '#kernel/sats/epoch.ts';
import { isPalindrome } from '#kernel/sats/notation.ts';
import { rarityOf } from '#kernel/sats/rarity.ts';
import { asSat, lastSat, satSupply } from '#kernel/sats/sat.ts';
import { type SatRange } from '#kernel/sats/sat-range.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const runs = { numRuns: propertyRuns(200) };
const all: SatRange = { start: 0, end: satSupply };
const book = new SatributeBook('mainnet');
const ruleOf = (id: string) => book.find(id)!.rule;
const has = (id: string, sat: number): boolean =>
  sat >= 0 && sat <= lastSat && countWithin(ruleOf(id), { start: sat, end: sat + 1 }) === 1;
const firstAt = (height: number): number => firstSatAt(asHeight(height));

describe('definitions', () => {
  test('have a name, a version, an origin and what is known of its completeness each, and no name twice', () => {
    const names = satributes.flatMap(({ id, inventory, scanner }) => [id, inventory, scanner]);
    const given = names.filter((name) => name !== undefined);
    expect(new Set(given).size).toBe(given.length);
    for (const { id, version, title, about, origin, completeness } of satributes) {
      expect(id).toMatch(/^[a-z0-9_-]+$/u);
      expect(version).toBeGreaterThanOrEqual(1);
      for (const words of [title, about, origin, completeness]) expect(words).not.toBe('');
    }
  });

  test.each([
    ['block9', 'block-9', 'block9'],
    ['block78', 'block-78', 'block78'],
    ['block666', 'block-666', 'block666'],
    ['block999', 'block-999', 'block999'],
    ['block9_450x', 'block9_450x', 'block9450x'],
    ['uncommon', 'uncommon', 'uncommon'],
  ])('%s is known to the scanner as %s, and to the inventory as %s', (id, scanner, inventory) => {
    for (const spelling of [id, scanner, inventory]) expect(book.find(spelling)?.id).toBe(id);
  });

  test('know every type of the inventory and of the scanner', () => {
    const inventory =
      'black block286 block78 block9 block9450x block999 hitman jpeg legacy nakamoto pizza silkroad uncommon vintage';
    const scanner =
      'uncommon rare epic legendary mythic block-9 block-78 block-666 block-999 vintage number-palindrome pizza first-transaction nakamoto black';
    const unknown = `${inventory} ${scanner}`.split(' ').filter((name) => book.find(name) === null);
    expect(unknown).toEqual([]);
  });

  test.each(['', 'Uncommon', 'common', 'block-286x', '__proto__'])('“%s” is unknown', (spelling) => {
    expect(book.find(spelling)).toBeNull();
  });

  test('have no sats if no list is published, and until the chain has given them', () => {
    const unlisted = satributes.filter(({ rule }) => whyUnknown(rule) !== null);
    expect(unlisted.map(({ id }) => id)).toEqual(['pizza', 'hitman', 'silkroad', 'legacy']);
    for (const satribute of unlisted) {
      expect(countWithin(satribute.rule, all)).toBe(0);
      expect([...rangesWithin(satribute.rule, all)]).toEqual([]);
      for (const network of networkNames)
        expect(new SatributeBook(network).findable.map(({ id }) => id)).not.toContain(satribute.id);
    }
  });

  test('of events on mainnet mean nothing elsewhere', () => {
    const regtest = new SatributeBook('regtest');
    expect(book.isFindable(book.find('nakamoto')!)).toBe(true);
    expect(regtest.isFindable(regtest.find('nakamoto')!)).toBe(false);
    expect(regtest.isFindable(regtest.find('uncommon')!)).toBe(true);
    expect(book.outputs.map(madeOutputName)).toEqual([
      'a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d:0@57043',
    ]);
    expect(regtest.outputs).toEqual([]);
  });
});

describe('the first and the last sat of each, and their neighbours', () => {
  test.each<[string, number, number]>([
    ['uncommon', 5_000_000_000, 5_000_000_000],
    ['rare', 10_080_000_000_000, 10_080_000_000_000],
    ['epic', 1_050_000_000_000_000, 1_050_000_000_000_000],
    ['legendary', 2_067_187_500_000_000, 2_067_187_500_000_000],
    ['mythic', 0, 0],
    ['black', 4_999_999_999, 4_999_999_999],
    ['black', 1_853_786_874_999_999, 1_853_786_874_999_999],
    ['black-uncommon', 1_853_786_874_999_999, 1_853_786_874_999_999],
    ['black-rare', 10_079_999_999_999, 10_079_999_999_999],
    ['black-epic', 1_049_999_999_999_999, 1_049_999_999_999_999],
    ['black-legendary', 2_067_187_499_999_999, 2_067_187_499_999_999],
    ['vintage', 0, 4_999_999_999_999],
    ['block9', 45_000_000_000, 49_999_999_999],
    ['block9_450x', 45_000_000_000, 45_099_999_999],
    ['first-transaction', 45_000_000_000, 45_999_999_999],
    ['block78', 390_000_000_000, 394_999_999_999],
    ['block286', 1_430_000_000_000, 1_434_999_999_999],
    ['block666', 3_330_000_000_000, 3_334_999_999_999],
    ['block999', 4_995_000_000_000, 4_999_999_999_999],
    ['nakamoto', 45_000_000_000, 49_999_999_999],
    ['nakamoto', 29_097 * 5_000_000_000, 29_098 * 5_000_000_000 - 1],
    ['jpeg', 151_700_000_000_000, 151_704_999_999_999],
    ['jpeg', 164_760_000_000_000, 164_764_999_999_999],
    ['coin', 100_000_000, 100_000_000],
    ['alpha', 2_099_999_900_000_000, 2_099_999_900_000_000],
    ['omega', 99_999_999, 99_999_999],
    ['number-palindrome', 1_000_000_000_000_001, 1_000_000_000_000_001],
    ['number-palindrome', 0, 9],
  ])('%s: %i to %i', (id, first, last) => {
    expect([first - 1, first, last, last + 1].map((sat) => has(id, sat))).toEqual([false, true, true, false]);
    const { start, end } = { start: Math.max(first - 1, 0), end: last + 2 };
    expect(countWithin(ruleOf(id), { start, end })).toBe(last - first + 1);
  });

  test('the sat after a black one is uncommon', () => {
    expect(has('uncommon', 1_853_786_875_000_000)).toBe(true);
    expect(has('black', 1_853_786_875_000_000)).toBe(false);
  });

  test('where a block mines one sat, it is uncommon and, before another block, black', () => {
    expect(specialSats([{ start: lastSat - 2, end: lastSat + 1 }], satributes, 10).ranges).toEqual([
      { start: lastSat - 2, end: lastSat, offset: 0, satributes: ['uncommon', 'black', 'black-uncommon'] },
      { start: lastSat, end: lastSat + 1, offset: 2, satributes: ['uncommon'] },
    ]);
  });
});

describe('counts', () => {
  test('over all sats are those of ord', () => {
    // crates/ordinals/src/rarity.rs
    expect(
      ['uncommon', 'rare', 'epic', 'legendary', 'mythic'].map((id) => countWithin(ruleOf(id), all)),
    ).toEqual([6_926_535, 3_432, 27, 5, 1]);
    // every block except the first has a sat before its first one
    expect(countWithin(ruleOf('black'), all)).toBe(6_929_999);
    expect(countWithin(ruleOf('coin'), all)).toBe(21_000_000);
    expect(countWithin(ruleOf('omega'), all)).toBe(20_999_999);
    expect(countWithin(ruleOf('nakamoto'), all)).toBe(19 * 5_000_000_000);
    // exactly 500 bitcoins were paid
    expect(countWithin(ruleOf('jpeg'), all)).toBe(500 * 100_000_000);
  });

  test('are how many there are', () => {
    // Starts of ranges. Sats of every kind occur close to the ends of such ranges.
    const near = fc.oneof(
      fc.constantFrom(0, 1, 10, 100_000_000, 45_000_000_000, 5_000_000_000_000, lastSat, satSupply),
      fc.integer({ min: 0, max: 6_929_999 }).map(firstAt),
      fc.integer({ min: 0, max: 32 }).map((epoch) => firstAt(epoch * epochBlocks)),
      fc.integer({ min: 0, max: 3_437 }).map((period) => firstAt(period * 2016)),
    );
    const range = fc
      .tuple(near, fc.integer({ min: -3, max: 3 }), fc.integer({ min: 0, max: 20_000_000_000 }))
      .map(([at, by, length]) => {
        const start = Math.min(Math.max(at + by, 0), satSupply);
        return { start, end: Math.min(start + length, satSupply) };
      });
    fc.assert(
      fc.property(range, fc.constantFrom(...satributes), ({ start, end }, { rule }) => {
        // late blocks mine one sat each, so a long range there has too many parts to go through
        const shown = { start, end: Math.min(end, start + (start > firstAt(1_500_000) ? 100_000 : 2e9)) };
        let count = 0;
        let before = shown.start;
        let isAscending = true;
        for (const found of rangesWithin(rule, shown)) {
          isAscending &&= found.start >= before && found.end > found.start;
          before = found.end;
          count += found.end - found.start;
        }
        expect(isAscending).toBe(true);
        expect(before).toBeLessThanOrEqual(shown.end);
        expect(countWithin(rule, shown)).toBe(count);
      }),
      runs,
    );
  });

  test('of rarities agree with each sat', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6_929_999 }).map(firstAt), (first) => {
        for (const sat of [first - 1, first, first + 1]) {
          if (sat < 0 || sat > lastSat) continue;
          const rarity = rarityOf(asSat(sat));
          for (const id of ['uncommon', 'rare', 'epic', 'legendary', 'mythic'])
            expect(has(id, sat)).toBe(rarity === id);
          const next = sat < lastSat ? rarityOf(asSat(sat + 1)) : 'common';
          expect(has('black', sat)).toBe(next !== 'common');
        }
      }),
      runs,
    );
  });
});

describe('palindromes', () => {
  test('below 200,000 are those that read the same from both ends', () => {
    const found: number[] = [];
    for (let sat = palindromeFrom(0); sat < 200_000; sat = palindromeFrom(sat + 1)) found.push(sat);
    const expected = Array.from({ length: 200_000 }, (_, sat) => sat).filter(isPalindrome);
    expect(found).toEqual(expected);
    for (let end = 0; end < 20_000; end++)
      expect(palindromesBelow(end), `below ${end}`).toBe(expected.filter((sat) => sat < end).length);
  });

  test('anywhere: nothing is left out between two of them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: lastSat }), (sat) => {
        const next = palindromeFrom(sat);
        expect(isPalindrome(next)).toBe(true);
        expect(palindromesBelow(next + 1) - palindromesBelow(sat)).toBe(1);
        expect(palindromeFrom(next)).toBe(next);
      }),
      runs,
    );
  });
});

describe('special ranges', () => {
  const ids = (range: SatRange) =>
    satributes.filter(({ rule }) => countWithin(rule, range) > 0).map(({ id }) => id);

  test('of the start of block 9', () => {
    const found = specialSats([{ start: 44_999_999_998, end: 45_000_000_003 }], satributes, 10);
    const block = ['block9', 'vintage', 'first-transaction', 'nakamoto', 'block9_450x'];
    expect(found.isComplete).toBe(true);
    expect(found.ranges).toEqual([
      { start: 44_999_999_998, end: 44_999_999_999, offset: 0, satributes: ['vintage'] },
      {
        start: 44_999_999_999,
        end: 45_000_000_000,
        offset: 1,
        satributes: ['vintage', 'black', 'black-uncommon', 'omega'],
      },
      {
        start: 45_000_000_000,
        end: 45_000_000_001,
        offset: 2,
        satributes: ['uncommon', ...block, 'coin', 'alpha'],
      },
      { start: 45_000_000_001, end: 45_000_000_003, offset: 3, satributes: block },
    ]);
    expect(found.counts.get('vintage')).toBe(5);
    expect(found.counts.get('uncommon')).toBe(1);
    expect(found.counts.has('rare')).toBe(false);
  });

  test('keep the order of the output, whose sats do not ascend', () => {
    const found = specialSats(
      [
        { start: 10_079_999_999_999, end: 10_080_000_000_001 },
        { start: 5_000_000_000_000, end: 5_000_000_000_001 },
      ],
      satributes,
      10,
    );
    expect(found.ranges.map(({ start, offset }) => [start, offset])).toEqual([
      [10_079_999_999_999, 0],
      [10_080_000_000_000, 1],
      [5_000_000_000_000, 2],
    ]);
  });

  test('show that they are not all, with exact counts', () => {
    const range = { start: 0, end: satSupply };
    const found = specialSats([range, { start: 5_000_000_000, end: 5_000_000_001 }], satributes, 100);
    expect(found.ranges).toHaveLength(100);
    expect(found.isComplete).toBe(false);
    expect(found.counts.get('uncommon')).toBe(6_926_536);
  });

  test('are right for every sat', () => {
    const start = fc.oneof(
      fc.integer({ min: 0, max: 40_000 }).map(firstAt),
      fc.integer({ min: 0, max: lastSat - 200 }).map(palindromeFrom),
      fc.integer({ min: 0, max: 20_999_998 }).map((coin) => coin * 100_000_000),
    );
    fc.assert(
      fc.property(
        start,
        fc.integer({ min: -40, max: 0 }),
        fc.integer({ min: 1, max: 60 }),
        (at, by, length) => {
          const range = {
            start: Math.max(at + by, 0),
            end: Math.min(Math.max(at + by, 0) + length, satSupply),
          };
          fc.pre(range.start < range.end);
          const { ranges, isComplete } = specialSats([range], satributes, 1_000);
          expect(isComplete).toBe(true);
          for (let sat = range.start; sat < range.end; sat++) {
            const special = ranges.filter((found) => found.start <= sat && sat < found.end);
            expect(special.map((found) => found.satributes)).toEqual(
              ids({ start: sat, end: sat + 1 }).length === 0 ? [] : [ids({ start: sat, end: sat + 1 })],
            );
          }
          for (const found of ranges) expect(found.offset).toBe(found.start - range.start);
        },
      ),
      runs,
    );
  });

  test('with a limit are the first of all', () => {
    const range = { start: 44_000_000_000, end: 56_000_000_000 };
    const whole = specialSats([range], satributes, 100_000).ranges;
    for (const limit of [0, 1, 2, 7, 50, 999]) {
      const { ranges, isComplete } = specialSats([range], satributes, limit);
      expect(isComplete).toBe(false);
      expect(ranges).toEqual(whole.slice(0, ranges.length));
      expect(ranges.length).toBeLessThanOrEqual(limit);
      expect(ranges.length).toBeGreaterThan(limit / satributes.length - 1);
    }
  });
});
