import { schnorr } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { isPointX } from '#kernel/bitcoin/curve-point.ts';
import { checkDestination, checkDestinations } from '#kernel/bitcoin/destination.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { witnessAddress } from '#kernel/bitcoin/witness-address.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/** Whether a signing library accepts an x coordinate (BIP 340, lift_x). */
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
/** Keys whose Jacobi symbol takes many or few steps. They have long runs of zeros and ones. */
const oddKey = fc
  .tuple(fc.bigInt({ min: 0n, max: 255n }), fc.nat(255), fc.boolean())
  .map(([low, shift, isComplement]) => {
    const number = BigInt.asUintN(256, isComplement ? ~(low << BigInt(shift)) : low << BigInt(shift));
    return hex(number.toString(16).padStart(64, '0'));
  });

/** Addresses whose keys are not points. The project got them as examples of orders that were accepted. */
const offCurve = [
  'bcrt1plllllllllllllllllllllllllllllllllllllllllllllllllllse0lp4e',
  'bcrt1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzssr24l3',
];
const reason =
  'is a Taproot address that no one can spend, because its key is not a point of the curve (BIP 341)';

const unspendable = { kind: 'refused', code: 'unspendable' };

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
    // vector 5 of BIP 340, and the numbers around the prime
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
        const paid = checkDestination({ address, network, amount: null }, 'later');
        expect(paid).toEqual(isLifted(x) ? parseAddress(address, network) : { ...unspendable, reason });
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test.each(offCurve)('is refused if no one can spend it: %s', (address) => {
    const paid = checkDestination({ address, network: networks.regtest, amount: null }, 'later');
    expect(paid).toEqual({ ...unspendable, reason });
  });

  test.each([
    ['an anchor', '51024e73', 'is an anchor, which anybody can spend'],
    ['version 2', '5220' + '00'.repeat(32), 'has a witness version that no one can spend safely yet'],
    [
      'version 1 of 20 bytes',
      '5114' + '00'.repeat(20),
      'has a witness version that no one can spend safely yet',
    ],
    ['P2WPKH', '0014' + '00'.repeat(20), null],
    ['P2WSH', '0020' + '00'.repeat(32), null],
    ['P2PKH', '76a914' + '00'.repeat(20) + '88ac', null],
    ['P2SH', 'a914' + '00'.repeat(20) + '87', null],
  ])('of %s', (_name, script, expected) => {
    const checked = checkDestination({ script: hex(script), amount: null }, 'later');
    expect(checked).toMatchObject(expected === null ? { kind: 'script' } : { reason: expected });
  });
});

/** Types of scripts, and the smallest value that nodes relay to each; `null` for types to which they relay nothing. */
const types: readonly [string, number | null, (bytes: Uint8Array) => Uint8Array][] = [
  ['P2PKH', 546, (bytes) => Uint8Array.of(0x76, 0xa9, 20, ...bytes.subarray(0, 20), 0x88, 0xac)],
  ['P2SH', 540, (bytes) => Uint8Array.of(0xa9, 20, ...bytes.subarray(0, 20), 0x87)],
  ['P2WPKH', 294, (bytes) => Uint8Array.of(0, 20, ...bytes.subarray(0, 20))],
  ['P2WSH', 330, (bytes) => Uint8Array.of(0, 32, ...bytes)],
  ['P2TR', 330, (bytes) => Uint8Array.of(0x51, 32, ...bytes)],
  ['P2A', null, () => hex('51024e73')],
  ['version 1 of 20 bytes', null, (bytes) => Uint8Array.of(0x51, 20, ...bytes.subarray(0, 20))],
  ['version 16', null, (bytes) => Uint8Array.of(0x60, 32, ...bytes)],
  ['version 0 of 16 bytes', null, (bytes) => Uint8Array.of(0, 16, ...bytes.subarray(0, 16))],
  ['OP_RETURN', null, (bytes) => Uint8Array.of(0x6a, 32, ...bytes)],
  ['P2PK', null, (bytes) => Uint8Array.of(33, 2, ...bytes, 0xac)],
  ['1 of 1', null, (bytes) => Uint8Array.of(0x51, 33, 2, ...bytes, 0x51, 0xae)],
  ['anything', null, (bytes) => Uint8Array.of(0xff, ...bytes)],
  ['nothing', null, () => new Uint8Array(0)],
];
/** Whether two networks have the same addresses of this form. */
const sameAddresses = (isBase58: boolean, one: NetworkName, other: NetworkName): boolean => {
  const alike = isBase58
    ? [['mainnet'], ['testnet3', 'testnet4', 'signet', 'regtest']]
    : [['mainnet'], ['testnet3', 'testnet4', 'signet'], ['regtest']];
  return alike.some((group) => group.includes(one) && group.includes(other));
};
const networkName = fc.constantFrom(...(Object.keys(networks) as NetworkName[]));
const amounts = fc.option(
  fc.oneof(
    fc.constantFrom(293n, 294n, 329n, 330n, 539n, 540n, 545n, 546n, 0n, -1n),
    fc.bigInt({ min: 0n, max: 2_000n }),
  ),
  { nil: null },
);

describe('a destination', () => {
  test('is taken where its type, key, network, amount and owner are as a table says', () => {
    fc.assert(
      fc.property(
        fc.record({
          type: fc.constantFrom(...types),
          bytes: fc.oneof(key, oddKey),
          of: networkName,
          on: networkName,
          amount: amounts,
          isOwn: fc.boolean(),
        }),
        ({ type: [name, least, scriptFrom], bytes, of, on, amount, isOwn }) => {
          const script = scriptFrom(bytes);
          const isPaid =
            least !== null &&
            (name !== 'P2TR' || isLifted(bytes)) &&
            !isOwn &&
            (amount === null || amount >= BigInt(least));
          const checked = checkDestination({ script, amount }, () => isOwn);
          expect([name, checked.kind]).toEqual([name, isPaid ? 'script' : 'refused']);
          const address = scriptToAddress(script, networks[of]);
          if (address === null) return;
          const isOn = sameAddresses(name === 'P2PKH' || name === 'P2SH', of, on);
          const read = checkDestination({ address, network: networks[on], amount }, () => isOwn);
          expect(read).toEqual(
            isOn ? checked : expect.objectContaining({ kind: 'refused', code: 'address' }),
          );
        },
      ),
      { numRuns: propertyRuns(1000) },
    );
  });

  test('among many is judged by one look-up, and named', async () => {
    const [p2wpkh, p2pkh] = [hex('0014' + '01'.repeat(20)), hex('76a914' + '02'.repeat(20) + '88ac')];
    const asked: number[] = [];
    const destinations = [
      { script: p2wpkh, amount: 294n },
      ...Array.from({ length: 300 }, () => ({ script: p2pkh, amount: null })),
      { script: p2wpkh, amount: 293n },
    ];
    const refused = await checkDestinations(destinations, async (scripts) => {
      asked.push(scripts.length);
      return [Uint8Array.from(p2pkh)];
    });
    expect(asked).toEqual([2]);
    expect(refused.map(({ code }) => code)).toEqual([...Array.from({ length: 300 }, () => 'own'), 'dust']);
    expect(refused.at(-1)?.destination).toBe(destinations.at(-1));
  });
});
