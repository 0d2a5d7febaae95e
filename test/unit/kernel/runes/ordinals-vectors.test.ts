import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import {
  asRune,
  isReservedRune,
  parseRune,
  reservedRune,
  runeCommitment,
  runeLetters,
} from '#kernel/runes/rune.ts';
import { formatRuneId, parseRuneId } from '#kernel/runes/rune-id.ts';
import { formatSpacedRune, parseSpacedRune, whyNoSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { maxU128 } from '#kernel/runes/u128.ts';
import { minimumRuneAt, unlockHeight } from '#kernel/runes/unlock-schedule.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/** ord's own unit tests as data: test/fixtures/runes/ORIGIN.md. */
interface Vectors {
  readonly rune: {
    readonly reserved: string;
    readonly name_number: [string, string][];
    readonly parse_errors: [string, string][];
    readonly mainnet_minimum_at_height: [number, string][];
    readonly minimum_at_height: [string, number, string][];
    readonly is_reserved: [string, boolean][];
    readonly commitment_hex: [string, string][];
    readonly unlock_height_mainnet: [string, number][];
    readonly reserved_for_id: [string, string][];
  };
  readonly spaced_rune: {
    readonly parse: [string, string, number][];
    readonly display: [string, string][];
    readonly errors: [string, string][];
    readonly excess_spacers_display: [number, number, string][];
  };
  readonly rune_id: {
    readonly parse_ok: [string, number, number][];
    readonly parse_err: string[];
  };
}

const fixture = join(import.meta.dirname, '../../../fixtures/runes/ordinals_crate.json');
const vectors = JSON.parse(readFileSync(fixture, 'utf8')) as Vectors;
const { rune: names, spaced_rune: spaced, rune_id: ids } = vectors;

const runeOf = (letters: string) => parseRune(letters)!;
const networkOf = (name: string) => (name === 'testnet' ? networks.testnet3 : networks[name as 'mainnet']);
const anyRune = fc.bigInt({ min: 0n, max: maxU128 }).map(asRune);

describe('names', () => {
  test.each(names.name_number)('%s is %s', (number, letters) => {
    expect(runeLetters(asRune(BigInt(number)))).toBe(letters);
    expect(parseRune(letters)).toBe(BigInt(number));
  });

  test.each([...names.parse_errors, ['', 'empty'], ['a', 'lower case'], ['A'.repeat(29), 'too long']])(
    '%s is refused: %s',
    (text) => {
      expect(parseRune(text)).toBeNull();
    },
  );

  test('letters and numbers are one to one', () => {
    fc.assert(
      fc.property(anyRune, (rune) => {
        expect(parseRune(runeLetters(rune))).toBe(rune);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test.each(names.is_reserved)('%s is reserved: %s', (letters, reserved) => {
    expect(isReservedRune(runeOf(letters))).toBe(reserved);
  });

  test.each(names.reserved_for_id)('an etching at %s without a name gets %s', (id, number) => {
    const [block = '', tx] = id.split(':');
    expect(reservedRune(BigInt(block), Number(tx))).toBe(BigInt(number));
  });

  test.each(names.commitment_hex)('%s is committed to by the bytes %s', (number, hex) => {
    expect(Buffer.from(runeCommitment(asRune(BigInt(number)))).toString('hex')).toBe(hex);
  });
});

describe('free names', () => {
  test.each(names.mainnet_minimum_at_height)('at height %i of mainnet from %s on', (height, letters) => {
    expect(runeLetters(minimumRuneAt(networks.mainnet, height))).toBe(letters);
  });

  test.each(names.minimum_at_height)('on %s at height %i from %s on', (network, height, letters) => {
    expect(runeLetters(minimumRuneAt(networkOf(network), height))).toBe(letters);
  });

  test.each(names.unlock_height_mainnet)('%s from height %i of mainnet on', (letters, height) => {
    expect(unlockHeight(networks.mainnet, runeOf(letters))).toBe(height);
  });

  test('a name is free from its unlock height on and not before', () => {
    const { mainnet } = networks;
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }).map(asRune), (rune) => {
        const height = unlockHeight(mainnet, rune)!;
        expect(minimumRuneAt(mainnet, height) <= rune).toBe(true);
        expect(height === 0 || minimumRuneAt(mainnet, height - 1) > rune).toBe(true);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('a reserved name never', () => {
    expect(unlockHeight(networks.mainnet, asRune(BigInt(names.reserved)))).toBeNull();
  });
});

describe('spaced names', () => {
  test.each(spaced.parse)('%s is %s with the spacers %i', (text, letters, spacers) => {
    expect(parseSpacedRune(text)).toEqual({ rune: runeOf(letters), spacers });
  });

  test.each(spaced.display)('%s is shown as %s', (text, shown) => {
    expect(formatSpacedRune(parseSpacedRune(text)!)).toBe(shown);
  });

  test.each([...spaced.errors, ['', 'empty'], ['•', 'a spacer alone'], [`${'A'.repeat(28)}•A`, 'too long']])(
    '%s is refused: %s',
    (text) => {
      expect(parseSpacedRune(text)).toBeNull();
      expect(whyNoSpacedRune(text)).toMatch(
        /^(?:(?:leading|double|trailing) spacer|name out of range|invalid character)/u,
      );
    },
  );

  test.each(spaced.excess_spacers_display)(
    '%i with the spacers %i is shown as %s',
    (number, spacers, shown) => {
      expect(formatSpacedRune({ rune: asRune(BigInt(number)), spacers })).toBe(shown);
    },
  );

  test('a shown name is read again, without spacers after its last letter', () => {
    fc.assert(
      fc.property(anyRune, fc.nat({ max: 2 ** 27 - 1 }), (rune, spacers) => {
        const inside = spacers & (2 ** (runeLetters(rune).length - 1) - 1);
        expect(parseSpacedRune(formatSpacedRune({ rune, spacers }))).toEqual({ rune, spacers: inside });
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

describe('ids', () => {
  test.each(ids.parse_ok)('%s', (text, block, tx) => {
    expect(parseRuneId(text)).toEqual({ block, tx });
    expect(formatRuneId(parseRuneId(text)!)).toBe(text);
  });

  test.each(ids.parse_err)('%s is refused', (text) => {
    expect(parseRuneId(text)).toBeNull();
  });

  test('their bounds are 64 and 32 bits', () => {
    expect(formatRuneId(parseRuneId('18446744073709551615:4294967295')!)).toBe(
      '18446744073709551615:4294967295',
    );
    expect(parseRuneId('18446744073709551616:0')).toBeNull();
    expect(parseRuneId('1:4294967296')).toBeNull();
  });
});
