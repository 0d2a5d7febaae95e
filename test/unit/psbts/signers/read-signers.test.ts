import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { readSigners, type Signers } from '#psbts/signers/read-signers.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { customerAddress, paymentTypes, signerBody } from '#test/support/psbts/customer-address.ts';

const ordinals = customerAddress(31);
const payment = customerAddress(30, 'p2wpkh');
const body = signerBody(payment, ordinals);

function read(given: Readonly<Record<string, unknown>>): { signers: Signers | null; faults: string[] } {
  const values = new RequestValues();
  const signers = readSigners(values, given, networks.regtest);
  return { signers, faults: values.faults.map(({ message }) => message) };
}

const compressed = (owner: number): string =>
  Buffer.from(secp256k1.getPublicKey(customerAddress(owner).privateKey, true)).toString('hex');
const hex = (bytes: Uint8Array | null | undefined): string | null =>
  bytes == null ? null : Buffer.from(bytes).toString('hex');

describe('the signers of a request', () => {
  test.each(paymentTypes)('%s has everything that its inputs need', (type) => {
    const given = customerAddress(30, type);
    const { signers, faults } = read(signerBody(given, ordinals));
    expect(faults).toEqual([]);
    expect(signers).toMatchObject({
      payment: { role: 'payment', address: given.address, type: type === 'p2sh-p2wpkh' ? 'p2sh' : type },
      ordinals: { role: 'ordinals', address: ordinals.address, type: 'p2tr' },
    });
    expect(hex(signers!.payment.script)).toBe(hex(given.script));
    expect(hex(signers!.payment.internalKey)).toBe(type === 'p2tr' ? given.publicKey : null);
    expect(signers!.payment.redeemScript?.length).toBe(type === 'p2sh-p2wpkh' ? 22 : undefined);
    expect(hex(signers!.payment.publicKey)).toBe(type === 'p2tr' ? null : given.publicKey);
  });

  test.each(paymentTypes)('%s takes the key as 33 and as 32 bytes, in either case of hex', (type) => {
    const given = customerAddress(30, type);
    for (const paymentPublicKey of [compressed(30), compressed(30).slice(2), compressed(30).toUpperCase()]) {
      const { signers, faults } = read({ ...signerBody(given, ordinals), paymentPublicKey });
      expect(faults).toEqual([]);
      // for an x-only key, the address decides the parity
      if (type !== 'p2tr') expect(hex(signers!.payment.publicKey)).toBe(compressed(30));
    }
  });

  test('fields have the names of several clients, and an ordinals address follows from its key', () => {
    const { signers, faults } = read({
      userAddress: payment.address,
      userPublicKey: payment.publicKey,
      userOrdinalPublicKey: ordinals.publicKey,
    });
    expect(faults).toEqual([]);
    expect([signers!.payment.address, signers!.ordinals.address]).toEqual([
      payment.address,
      ordinals.address,
    ]);
    expect(read({ ...body, ordinalAddress: '', ordinalsAddress: ordinals.address }).faults).toEqual([]);
    expect(read({ ...body, userOrdinalsAddress: customerAddress(9).address }).faults).toEqual([
      'userOrdinalsAddress differs from ordinalAddress',
    ]);
  });

  test('one address may be both', () => {
    const { signers, faults } = read(signerBody(ordinals, ordinals));
    expect(faults).toEqual([]);
    expect(signers!.payment.address).toBe(signers!.ordinals.address);
  });

  test.each<[string, object, readonly string[]]>([
    [
      'nothing',
      { paymentAddress: null, paymentPublicKey: '', ordinalAddress: undefined, ordinalPublicKey: null },
      ['paymentPublicKey is required.', 'paymentAddress is required.', 'ordinalPublicKey is required.'],
    ],
    [
      'another network',
      { paymentAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
      ['paymentAddress belongs to another network, but this server serves regtest'],
    ],
    [
      'no address',
      { paymentAddress: 'bcrt1q' },
      ['paymentAddress is not a Bitcoin address, but this server serves regtest'],
    ],
    [
      'an address of another type',
      { paymentAddress: 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry' },
      [
        'paymentAddress must be P2TR, P2WPKH, P2SH-P2WPKH or P2PKH, because no common wallet signs for outputs of other addresses',
      ],
    ],
    [
      'an ordinals address that is not taproot',
      { ordinalAddress: payment.address, ordinalPublicKey: payment.publicKey },
      ['ordinalAddress must be a taproot address (P2TR)'],
    ],
    [
      'another key',
      { paymentPublicKey: compressed(33) },
      ['paymentPublicKey is not the key of paymentAddress'],
    ],
    [
      'another ordinals key',
      { ordinalPublicKey: compressed(33) },
      ['ordinalPublicKey is not the key of ordinalAddress'],
    ],
    [
      'the tweaked key',
      { ordinalPublicKey: hex(ordinals.script.subarray(2)) },
      [
        'ordinalPublicKey is the tweaked key of ordinalAddress; send the internal key, which wallets call the public key of the address (BIP 86)',
      ],
    ],
    [
      'a key off the curve',
      { paymentPublicKey: 'ff'.repeat(32) },
      ['paymentPublicKey is not a point of the curve secp256k1'],
    ],
    [
      'a key with another prefix',
      { paymentPublicKey: `05${compressed(30).slice(2)}` },
      ['paymentPublicKey is not a point of the curve secp256k1'],
    ],
    [
      'an uncompressed key',
      { paymentPublicKey: `04${'ab'.repeat(64)}` },
      ['paymentPublicKey must be a compressed key, of 33 or 32 bytes'],
    ],
    [
      'no key',
      { paymentPublicKey: 'xpub' },
      ['paymentPublicKey must be a public key of 33 or 32 bytes in hex'],
    ],
    [
      'a number',
      { paymentPublicKey: 7, paymentAddress: ['a'] },
      ['paymentPublicKey must be a text', 'paymentAddress must be a text'],
    ],
  ])('%s is refused, each mistake with its field', (_, given, faults) => {
    const { signers, faults: found } = read({ ...body, ...given });
    expect(signers).toBeNull();
    expect(found.toSorted()).toEqual([...faults].toSorted());
  });

  test('a P2SH address of another script is refused', () => {
    const other = customerAddress(35, 'p2sh-p2wpkh');
    expect(read({ ...body, paymentAddress: other.address }).faults).toEqual([
      'paymentPublicKey is not the key of paymentAddress, as P2SH-P2WPKH',
    ]);
  });

  test('any body is read, or refused with a fault', () => {
    fc.assert(
      fc.property(
        fc.record(Object.fromEntries(Object.keys(body).map((key) => [key, fc.anything()]))),
        (given) => {
          const { signers, faults } = read(given);
          expect(signers === null).toBe(faults.length > 0);
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });
});
