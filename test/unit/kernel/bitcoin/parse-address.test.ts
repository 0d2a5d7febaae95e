import { bech32, bech32m } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { type NetworkName, networkNames, networks } from '#kernel/primitives/network.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const parsed = (text: string, network: NetworkName = 'mainnet'): string => {
  const result = parseAddress(text, networks[network]);
  return result.kind === 'script' ? Buffer.from(result.script).toString('hex') : result.reason;
};
const other = 'belongs to another network';
const none = 'is not a Bitcoin address';

// BIP 350, "Test vectors for v0-v16 native segregated witness addresses"
const valid: readonly (readonly [string, string, NetworkName])[] = [
  ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', '0014751e76e8199196d454941c45d1b3a323f1433bd6', 'mainnet'],
  [
    'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
    '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
    'signet',
  ],
  [
    'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
    '5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6',
    'mainnet',
  ],
  ['BC1SW50QGDZ25J', '6002751e', 'mainnet'],
  ['bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs', '5210751e76e8199196d454941c45d1b3a323', 'mainnet'],
  [
    'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
    '5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433',
    'testnet4',
  ],
];

// from the same BIP, "The following list gives invalid segwit addresses"
const invalid = [
  'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
  'tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf',
  'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL',
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh',
  'tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47',
  'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4',
  'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R',
  'bc1pw5dgrnzv',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav',
  'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P',
  'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf',
  'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j',
  'bc1gmk9yu',
];

describe('parseAddress', () => {
  test.each(valid)('reads %s', (address, script, network) => {
    expect(parsed(address, network)).toBe(script);
  });

  test.each(invalid)('refuses %s', (address) => {
    expect(parsed(address)).toBe(none);
    expect(parsed(address, 'testnet3')).toBe(none);
  });

  test('says where an address belongs to another network', () => {
    const [main] = valid[0] as (typeof valid)[number];
    expect(parsed(main, 'regtest')).toBe(other);
    expect(parsed('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'signet')).toBe(other);
    expect(parsed('mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8')).toBe(other);
    expect(parsed('mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8', 'regtest')).toBe(`76a914${'00'.repeat(20)}88ac`);
    expect(parsed('3CK4fEwbMP7heJarmU4eqA3sMbVJyEnU3V')).toBe(
      'a914748284390f9e263a4b766a75d0633c50426eb87587',
    );
    // a private key in base58check, and seed words
    for (const text of [
      '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ',
      '',
      '1',
      'bc1',
      'hello',
      '1'.repeat(91),
    ]) {
      expect(parsed(text)).toBe(none);
    }
  });

  const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const program = (least: number, most: number): fc.Arbitrary<Uint8Array> =>
    fc.uint8Array({ minLength: least, maxLength: most });
  const scripts = fc.oneof(
    hash.map((bytes) => Uint8Array.of(0x76, 0xa9, 20, ...bytes, 0x88, 0xac)),
    hash.map((bytes) => Uint8Array.of(0xa9, 20, ...bytes, 0x87)),
    fc.oneof(program(20, 20), program(32, 32)).map((bytes) => Uint8Array.of(0, bytes.length, ...bytes)),
    fc
      .tuple(fc.integer({ min: 1, max: 16 }), program(2, 40))
      .map(([version, bytes]) => Uint8Array.of(0x50 + version, bytes.length, ...bytes)),
  );

  test('is the inverse of scriptToAddress, in either case', () => {
    fc.assert(
      fc.property(scripts, fc.constantFrom(...networkNames), (script, name) => {
        const address = scriptToAddress(script, networks[name]) as string;
        const hex = Buffer.from(script).toString('hex');
        expect(parsed(address, name)).toBe(hex);
        const isSegwit = address.startsWith(networks[name].bech32);
        if (isSegwit) expect(parsed(address.toUpperCase(), name)).toBe(hex);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('never throws, and what it reads it would write again', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 100 }),
      fc
        .tuple(
          fc.constantFrom('bc', 'tb', 'bcrt', 'ltc'),
          fc.array(fc.integer({ min: 0, max: 31 }), { maxLength: 75 }),
          fc.boolean(),
        )
        .map(([prefix, words, isM]) => (isM ? bech32m : bech32).encode(prefix, words, false)),
    );
    fc.assert(
      fc.property(text, (given) => {
        const result = parseAddress(given, networks.mainnet);
        if (result.kind === 'refused') return;
        expect(scriptToAddress(result.script, networks.mainnet)?.toLowerCase()).toBe(given.toLowerCase());
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});
