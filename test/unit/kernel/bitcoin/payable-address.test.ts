import { schnorr } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPointX } from '#kernel/bitcoin/curve-point.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { payableAddress, whyNotPayable } from '#kernel/bitcoin/payable-address.ts';
import { witnessAddress } from '#kernel/bitcoin/witness-address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/** The judgement of a library that signs (BIP 340, lift_x). */
function isLifted(x: Uint8Array): boolean {
  try {
    schnorr.utils.lift_x(BigInt(`0x${Buffer.from(x).toString('hex')}`));
    return true;
  } catch {
    return false;
  }
}

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
/** Keys whose Jacobi symbol has many steps, or few: with long runs of zeros and ones. */
const oddKey = fc
  .tuple(fc.bigInt({ min: 0n, max: 255n }), fc.nat(255), fc.boolean())
  .map(([low, shift, isComplement]) => {
    const number = BigInt.asUintN(256, isComplement ? ~(low << BigInt(shift)) : low << BigInt(shift));
    return hex(number.toString(16).padStart(64, '0'));
  });

/** Addresses whose keys are no points: shared with the project as a case of orders that were taken. */
const offCurve = [
  'bcrt1plllllllllllllllllllllllllllllllllllllllllllllllllllse0lp4e',
  'bcrt1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzssr24l3',
];
const reason = 'is a Taproot address that no one can spend: its key is not a point of the curve (BIP 341)';

describe('the key of a Taproot output', () => {
  test('is a point where a signing library says so', () => {
    fc.assert(
      fc.property(fc.oneof(key, oddKey), (x) => {
        expect(isPointX(x)).toBe(isLifted(x));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('of a private key always is', () => {
    const privateKey = key.filter((bytes) => bytes.some((byte) => byte > 0) && (bytes[0] ?? 0) < 0xff);
    fc.assert(
      fc.property(privateKey, (bytes) => {
        expect(isPointX(schnorr.getPublicKey(bytes))).toBe(true);
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  test.each([
    // BIP 340, vector 5, and the numbers around the prime
    ['eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34', false],
    ['fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f', false],
    ['fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30', false],
    ['fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2e', false],
    ['0000000000000000000000000000000000000000000000000000000000000000', false],
    ['0000000000000000000000000000000000000000000000000000000000000001', true],
    ['79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', true],
  ])('%s: %s', (x, isPoint) => {
    expect([isPointX(hex(x)), isLifted(hex(x))]).toEqual([isPoint, isPoint]);
  });

  test('has 32 bytes', () => {
    expect(isPointX(new Uint8Array(31).fill(1))).toBe(false);
    expect(isPointX(new Uint8Array(33).fill(1))).toBe(false);
  });
});

describe('an address that is paid', () => {
  test('of Taproot is taken where its key is a point, and looked at in any case', () => {
    fc.assert(
      fc.property(key, fc.constantFrom('mainnet', 'signet', 'regtest'), (x, name) => {
        const network = networks[name];
        const address = witnessAddress(network.bech32, 1, x);
        expect(parseAddress(address, network).kind).toBe('script');
        const paid = payableAddress(address, network);
        expect(paid).toEqual(isLifted(x) ? parseAddress(address, network) : { kind: 'refused', reason });
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test.each(offCurve)('is refused if no one can spend it: %s', (address) => {
    expect(payableAddress(address, networks.regtest)).toEqual({ kind: 'refused', reason });
  });

  test.each([
    ['an anchor', '51024e73', 'is an anchor, which anybody can spend'],
    ['version 2', '5220' + '00'.repeat(32), 'is of a witness version that no one can spend safely yet'],
    [
      'version 1 of 20 bytes',
      '5114' + '00'.repeat(20),
      'is of a witness version that no one can spend safely yet',
    ],
    ['P2WPKH', '0014' + '00'.repeat(20), null],
    ['P2WSH', '0020' + '00'.repeat(32), null],
    ['P2PKH', '76a914' + '00'.repeat(20) + '88ac', null],
    ['P2SH', 'a914' + '00'.repeat(20) + '87', null],
  ])('of %s', (_name, script, expected) => {
    expect(whyNotPayable(hex(script))).toBe(expected);
  });
});
