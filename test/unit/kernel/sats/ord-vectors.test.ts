import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { charmNames } from '#kernel/primitives/charm.ts';
import { asHeight, trustedHeight } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { epochBlocks, firstSatAt, minedAt } from '#kernel/sats/epoch.ts';
import { isPalindrome, satCharms, satNotations, satStanding } from '#kernel/sats/notation.ts';
import { parseSat } from '#kernel/sats/parse-sat.ts';
import { type Rarity, rarityOf } from '#kernel/sats/rarity.ts';
import { asSat, lastSat, satSupply } from '#kernel/sats/sat.ts';

type Pairs<Value> = [string, Value][];

/** ord's own unit tests as data: test/fixtures/runes/ORIGIN.md. */
interface Vectors {
  readonly supply: string;
  readonly last_sat: string;
  readonly sat: {
    readonly height: Pairs<number>;
    readonly name: Pairs<string>;
    readonly degree: Pairs<string>;
    readonly period: Pairs<number>;
    readonly epoch: Pairs<number>;
    readonly third: Pairs<number>;
    readonly cycle: Pairs<number>;
    readonly percentile: Pairs<string>;
    readonly rarity: Pairs<Rarity>;
    readonly parse_ok: Pairs<string>;
    readonly parse_err: string[];
    readonly parse_is_ok: string[];
    readonly degree_rarity: Pairs<Rarity>;
    readonly coin: Pairs<boolean>;
    readonly palindrome: Pairs<boolean>;
  };
  readonly epoch: {
    readonly subsidy: [number, number][];
    readonly starting_sat: [number, string][];
  };
  readonly height: {
    readonly subsidy: [number, string][];
    readonly starting_sat: [number, string][];
  };
  readonly decimal_sat: [string, number, number][];
}

const fixture = join(import.meta.dirname, '../../../fixtures/runes/ordinals_crate.json');
const vectors = JSON.parse(readFileSync(fixture, 'utf8')) as Vectors;
const { sat: sats } = vectors;

const satOf = (number: string) => asSat(Number(number));
const parsed = (text: string) => {
  const read = parseSat(text);
  return 'sat' in read ? read.sat : read.fault;
};
/** Makes a height of any size, because ord's heights go to 2^32 - 1. */
const heightOf = (height: number) => trustedHeight(height);

test('there are as many sats as ord counts', () => {
  expect(satSupply).toBe(Number(vectors.supply));
  expect(lastSat).toBe(Number(vectors.last_sat));
});

describe('ord’s notations of a sat', () => {
  test.each(sats.name)('%s has the name %s', (number, name) => {
    expect(satNotations(satOf(number)).name).toBe(name);
    expect(parsed(name)).toBe(Number(number));
  });

  test.each(sats.degree)('%s has the degree %s', (number, degree) => {
    expect(satNotations(satOf(number)).degree).toBe(degree);
    expect(parsed(degree)).toBe(Number(number));
  });

  test.each(sats.percentile)('%s has the percentile %s', (number, percentile) => {
    expect(satNotations(satOf(number)).percentile).toBe(percentile);
  });

  test.each(vectors.decimal_sat)('%s is sat %i.%i', (number, height, offset) => {
    expect(satNotations(satOf(number)).decimal).toBe(`${height}.${offset}`);
    expect(minedAt(satOf(number))).toEqual({ height, offset });
  });

  test.each([
    ['height', sats.height],
    ['period', sats.period],
    ['epoch', sats.epoch],
    ['offset', sats.third],
    ['cycle', sats.cycle],
    ['rarity', sats.rarity],
  ] as const)('its %s', (field, pairs) => {
    const said = pairs.map(([number]) => [number, satStanding(satOf(number))[field]]);
    expect(said).toEqual(pairs);
  });

  test.each(sats.coin)('%s begins a bitcoin: %s', (number, isCoin) => {
    expect(charmNames(satCharms(satOf(number))).includes('coin')).toBe(isCoin);
  });

  test.each(sats.palindrome)('%s is a palindrome: %s', (number, expected) => {
    expect(isPalindrome(satOf(number))).toBe(expected);
    expect(charmNames(satCharms(satOf(number))).includes('palindrome')).toBe(expected);
  });

  test('the nineballs are the sats of block 9', () => {
    const isNineball = (number: number) => charmNames(satCharms(asSat(number))).includes('nineball');
    const found = [44_999_999_999, 45_000_000_000, 49_999_999_999, 50_000_000_000].map(isNineball);
    expect(found).toEqual([false, true, true, false]);
  });

  test.each(sats.degree_rarity)('%s is %s', (degree, rarity) => {
    const read = parseSat(degree);
    expect('sat' in read && rarityOf(read.sat)).toBe(rarity);
  });
});

describe('subsidies', () => {
  test.each(vectors.epoch.subsidy)('epoch %i mines %i sats a block', (epoch, subsidy) => {
    expect(subsidyAt(asHeight(epoch * epochBlocks))).toBe(subsidy);
  });

  test.each(vectors.epoch.starting_sat)('epoch %i begins with sat %s', (epoch, sat) => {
    expect(firstSatAt(asHeight(epoch * epochBlocks))).toBe(Number(sat));
  });

  test.each(vectors.height.subsidy)('block %i mines %s sats', (height, subsidy) => {
    expect(subsidyAt(heightOf(height))).toBe(Number(subsidy));
  });

  test.each(vectors.height.starting_sat)('block %i begins with sat %s', (height, sat) => {
    expect(firstSatAt(heightOf(height))).toBe(Number(sat));
  });
});

describe('notations', () => {
  test.each(sats.parse_ok)('%s is sat %s', (text, number) => {
    expect(parsed(text)).toBe(Number(number));
  });

  test.each(sats.parse_is_ok)('%s is a sat', (text) => {
    expect(parsed(text)).toBeTypeOf('number');
  });

  test.each(sats.parse_err)('“%s” is refused', (text) => {
    expect(parsed(text)).toContain(`failed to parse sat \`${text}\`: `);
  });

  // messages of ord's `ErrorKind`, and Rust's messages for integers and floats
  test.each([
    ['2099999997690000', 'invalid integer range'],
    ['18446744073709551616', 'invalid integer: number too large to fit in target type'],
    ['-1', 'invalid integer: invalid digit found in string'],
    ['', 'invalid integer: cannot parse integer from empty string'],
    ['+', 'invalid integer: invalid digit found in string'],
    ['１', 'invalid integer: invalid digit found in string'],
    ['99999999999999999999x', 'invalid character in name'],
    ['99999999999999999999X', 'invalid integer: number too large to fit in target type'],
    ['nvtdijuwxlq', 'invalid name range'],
    ['aaaaaaaaaaaa', 'invalid name range'],
    ['1a', 'invalid character in name'],
    ['Satoshi', 'invalid character in name'],
    ['nan%', 'invalid character in name'],
    ['1e1%', 'invalid character in name'],
    ['100.1%', 'invalid percentile'],
    ['-1%', 'invalid percentile'],
    ['NAN%', 'invalid percentile'],
    ['INF%', 'invalid percentile'],
    ['50%0', 'invalid percentile'],
    ['%', 'invalid float: cannot parse float from empty string'],
    ['.%', 'invalid float: invalid float literal'],
    ['1,5%', 'invalid float: invalid float literal'],
    ['6930000.0', 'invalid block offset'],
    ['0.5000000000', 'invalid block offset'],
    ['4294967295.0', 'invalid block offset'],
    ['4294967296.0', 'invalid integer: number too large to fit in target type'],
    ['.0', 'invalid integer: cannot parse integer from empty string'],
    ['1.2.3', 'invalid integer: invalid digit found in string'],
    ['°', 'invalid integer: cannot parse integer from empty string'],
    ['0°', 'missing minute symbol'],
    ['0°0′', 'missing second symbol'],
    ['0°210000′0″0‴', 'invalid epoch offset'],
    ['0°2016′2016″0‴', 'invalid period offset'],
    ['0°2016′1″0‴', 'relationship between epoch offset and period offset must be multiple of 336'],
    ['0°0′0″0‴x', 'invalid character in name'],
    ['0°0′0″0‴0', 'trailing character'],
    ['0°0′0″0', 'trailing character'],
    ['0°0′0″5000000000‴', 'invalid block offset'],
    ['6°0′0″0‴', 'invalid block offset'],
    // in a release build of ord, a height beyond 32 bits wraps to a sat
    ['715827883°0′0″0‴', 'invalid block offset'],
  ])('“%s”: %s', (text, reason) => {
    expect(parseSat(text)).toEqual({ fault: `failed to parse sat \`${text}\`: ${reason}` });
  });

  test('an error quotes the beginning of a long text', () => {
    expect(parseSat('9'.repeat(30_000))).toEqual({
      fault: `failed to parse sat \`${'9'.repeat(80)}…\`: invalid integer: number too large to fit in target type`,
    });
  });

  test.each([
    ['+0007', 7],
    ['0°0′0″+1‴', 1],
    ['00.01', 1],
    ['1E1%', 209_999_999_769_000],
    ['+.0%', 0],
    ['-0%', 0],
    ['100.%', 2_099_999_997_689_999],
  ])('“%s” is %i, as Rust reads numbers', (text, number) => {
    expect(parsed(text)).toBe(number);
  });
});
