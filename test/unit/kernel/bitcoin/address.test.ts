import { bech32, bech32m } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';

const address = (hex: string, network: NetworkName = 'mainnet'): string | null =>
  scriptToAddress(Buffer.from(hex, 'hex'), networks[network]);

// the valid addresses of BIP 350, "Test vectors for v0-v16 native segregated witness addresses", in lower case
const bip350: readonly (readonly [string, string, NetworkName])[] = [
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '0014751e76e8199196d454941c45d1b3a323f1433bd6', 'mainnet'],
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
  ['bc1sw50qgdz25j', '6002751e', 'mainnet'],
  ['bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs', '5210751e76e8199196d454941c45d1b3a323', 'mainnet'],
  [
    'tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy',
    '0020000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433',
    'testnet4',
  ],
  [
    'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
    '5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433',
    'testnet3',
  ],
  [
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    'mainnet',
  ],
];

describe('scriptToAddress', () => {
  test.each(bip350)('gives %s', (expected, script, network) => {
    expect(address(script, network)).toBe(expected);
  });

  test('gives P2PKH and P2SH addresses of mainnet and of the test networks', () => {
    // the address of the genesis block's coinbase key, and an old multisig address
    expect(address('76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac')).toBe(
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    );
    expect(address('a914748284390f9e263a4b766a75d0633c50426eb87587')).toBe(
      '3CK4fEwbMP7heJarmU4eqA3sMbVJyEnU3V',
    );
    expect(address(`76a914${'00'.repeat(20)}88ac`, 'regtest')).toBe('mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8');
    expect(address(`a914${'00'.repeat(20)}87`, 'signet')).toBe('2MsFDzHRUAMpjHxKyoEHU3aMCMsVtMqs1PV');
  });

  test('uses the prefix of regtest', () => {
    expect(address(`5120${'11'.repeat(32)}`, 'regtest')).toMatch(/^bcrt1p/u);
  });

  test('gives the pay-to-anchor address', () => {
    expect(address('51024e73')).toBe('bc1pfeessrawgf');
  });

  test.each([
    ['empty', ''],
    ['OP_RETURN', '6a0548656c6c6f'],
    ['pay to public key', `21${'02'.repeat(33)}ac`],
    ['bare multisig', `5121${'02'.repeat(33)}51ae`],
    ['version 0 of 21 bytes', `0015${'00'.repeat(21)}`],
    ['version 0 of 40 bytes', `0028${'00'.repeat(40)}`],
    ['version 1 of 1 byte', '510100'],
    ['version 1 of 41 bytes', `5129${'00'.repeat(41)}`],
    ['a program with a byte after it', `5120${'00'.repeat(33)}`],
    ['a program that ends early', `5120${'00'.repeat(31)}`],
    ['OP_1NEGATE as version', `4f20${'00'.repeat(32)}`],
    ['OP_NOP as version', `6120${'00'.repeat(32)}`],
    ['a program pushed with OP_PUSHDATA1', `514c20${'00'.repeat(32)}`],
    ['P2PKH with another last opcode', `76a914${'00'.repeat(20)}88ad`],
    ['P2SH with a byte after it', `a914${'00'.repeat(20)}8700`],
  ])('gives none for %s', (_name, script) => {
    expect(address(script)).toBeNull();
  });

  test('of any witness program says version and program again, and never throws', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 16 }),
        fc.uint8Array({ minLength: 2, maxLength: 40 }),
        (version, program) => {
          const script = Uint8Array.from([0x50 + version, program.length, ...program]);
          const { prefix, words } = bech32m.decode(
            scriptToAddress(script, networks.signet) as `tb1${string}`,
          );
          expect(prefix).toBe('tb');
          expect(words[0]).toBe(version);
          expect(bech32m.fromWords(words.slice(1))).toEqual(program);
        },
      ),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (script) => {
        const shown = scriptToAddress(script, networks.mainnet);
        expect(shown === null || shown.length >= 14).toBe(true);
      }),
    );
  });

  test('of version 0 uses bech32 and not bech32m', () => {
    const shown = address(`0014${'ab'.repeat(20)}`) as `bc1${string}`;
    expect(bech32.decodeUnsafe(shown)).toBeDefined();
    expect(bech32m.decodeUnsafe(shown)).toBeUndefined();
  });
});
