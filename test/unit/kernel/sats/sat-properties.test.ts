import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asHeight, trustedHeight } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { epochBlocks, epochsMax, firstSatAt, minedAt } from '#kernel/sats/epoch.ts';
import { isPalindrome, satNotations, satStanding } from '#kernel/sats/notation.ts';
import { parseSat } from '#kernel/sats/parse-sat.ts';
import { blockRarity, type Rarity, rarities, rarityOf } from '#kernel/sats/rarity.ts';
import { decimalDigits } from '#kernel/sats/rust-numbers.ts';
import { asSat, lastSat, type Sat, satSupply } from '#kernel/sats/sat.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const runs = { numRuns: propertyRuns(500) };
const endOfMining = epochsMax * epochBlocks;
const anyHeight = fc.integer({ min: 0, max: endOfMining - 1 }).map(asHeight);
/** Any sat. Half of them are beside the first sat of a block, where rules change. */
const anySat: fc.Arbitrary<Sat> = fc.oneof(
  fc.integer({ min: 0, max: lastSat }).map(asSat),
  fc
    .tuple(anyHeight, fc.integer({ min: -1, max: 1 }))
    .map(([height, by]) => asSat(Math.min(Math.max(firstSatAt(height) + by, 0), lastSat))),
);

/** Computes the same slowly: it goes through the epochs with big integers. */
function slowPlace(sat: bigint): { height: bigint; offset: bigint } {
  let first = 0n;
  for (let epoch = 0n; ; epoch++) {
    const subsidy = 5_000_000_000n >> epoch;
    const end = first + subsidy * 210_000n;
    if (sat < end)
      return { height: epoch * 210_000n + (sat - first) / subsidy, offset: (sat - first) % subsidy };
    first = end;
  }
}

function slowRarity(sat: bigint): string {
  const { height, offset } = slowPlace(sat);
  if (offset !== 0n) return 'common';
  if (height === 0n) return 'mythic';
  if (height % 1_260_000n === 0n) return 'legendary';
  if (height % 210_000n === 0n) return 'epic';
  return height % 2016n === 0n ? 'rare' : 'uncommon';
}

const reversed = (text: string): string => text.split('').reverse().join('');

describe('notations', () => {
  test('name, degree, decimal and number lead back to the sat', () => {
    fc.assert(
      fc.property(anySat, (sat) => {
        const { name, degree, decimal } = satNotations(sat);
        for (const text of [name, degree, decimal, String(sat)]) expect(parseSat(text)).toEqual({ sat });
      }),
      runs,
    );
  });

  test('a percentile leads back to the sat or one beside it', () => {
    fc.assert(
      fc.property(anySat, (sat) => {
        const read = parseSat(satNotations(sat).percentile);
        expect('sat' in read && Math.abs(read.sat - sat)).toBeLessThanOrEqual(1);
      }),
      runs,
    );
  });

  test('a later sat has a shorter or, among equally long ones, an earlier name', () => {
    fc.assert(
      fc.property(anySat, anySat, (one, other) => {
        fc.pre(one !== other);
        const [early, late] = one < other ? [one, other] : [other, one];
        const [before, after] = [satNotations(early).name, satNotations(late).name];
        expect(before.length === after.length ? after < before : after.length < before.length).toBe(true);
      }),
      runs,
    );
  });

  test('no text makes the reader throw, and what it reads is a sat', () => {
    const parts = fc.constantFrom(
      '0',
      '9',
      '.',
      '%',
      '°',
      '′',
      '″',
      '‴',
      'a',
      'z',
      '-',
      '+',
      'E',
      '5000000000',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(parts).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        const read = parseSat(given);
        if ('sat' in read) expect(asSat(read.sat)).toBe(read.sat);
        else expect(read.fault).toMatch(/^failed to parse sat `/u);
      }),
      runs,
    );
  });

  test('doubles are printed without an exponent and read as the same double', () => {
    const double = fc.double({ min: 0, max: 100, noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(double, (value) => {
        const text = decimalDigits(Math.abs(value));
        expect(text).toMatch(/^\d+(?:\.\d+)?$/u);
        expect(Number(text)).toBe(Math.abs(value));
      }),
      runs,
    );
    expect(decimalDigits(1e21)).toBe('1000000000000000000000');
    expect(decimalDigits(1.5e21)).toBe('1500000000000000000000');
  });
});

describe('the order of sats', () => {
  test('blocks divide the supply: each begins where the one before ends', () => {
    fc.assert(
      fc.property(anyHeight, (height) => {
        const first = firstSatAt(height);
        const next = firstSatAt(asHeight(height + 1));
        expect(next - first).toBe(subsidyAt(height));
        expect(minedAt(asSat(first))).toEqual({ height, offset: 0 });
        expect(minedAt(asSat(next - 1))).toEqual({ height, offset: subsidyAt(height) - 1 });
      }),
      runs,
    );
    expect(firstSatAt(asHeight(0))).toBe(0);
    expect(firstSatAt(asHeight(endOfMining))).toBe(satSupply);
  });

  test('height, offset and rarity equal those of big integers', () => {
    fc.assert(
      fc.property(anySat, (sat) => {
        const { height, offset } = slowPlace(BigInt(sat));
        expect(satStanding(sat)).toMatchObject({ height: Number(height), offset: Number(offset) });
        expect(rarityOf(sat)).toBe(slowRarity(BigInt(sat)));
      }),
      runs,
    );
  });

  test('there are as many of each rarity as ord says', () => {
    const counts = Object.fromEntries(rarities.map((rarity) => [rarity, 0])) as Record<Rarity, number>;
    for (let height = 0; height < endOfMining; height++) counts[blockRarity(trustedHeight(height))]++;
    // crates/ordinals/src/rarity.rs
    expect(Object.values(counts)).toEqual([0, 6_926_535, 3_432, 27, 5, 1]);
  });

  test('a palindrome reads the same from both ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: lastSat }), (number) => {
        const digits = String(number);
        expect(isPalindrome(number)).toBe(digits === reversed(digits));
        const mirrored = Number(`${digits.slice(0, 8)}${reversed(digits.slice(0, 7))}`);
        expect(isPalindrome(mirrored)).toBe(String(mirrored) === reversed(String(mirrored)));
      }),
      runs,
    );
  });
});
