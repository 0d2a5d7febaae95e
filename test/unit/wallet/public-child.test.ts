import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { AccountKeys, accountOf, publicAccount } from '#wallet/account-key.ts';
import { publicChild, publicParent } from '#wallet/public-child.ts';

const seeds = fc.uint8Array({ minLength: 16, maxLength: 64 });
const indices = fc.integer({ min: 0, max: 0x7fff_ffff });

const parentOf = ({ chainCode, publicKey }: HDKey) => publicParent(chainCode!, publicKey!);

// test vector 2 of BIP 32: the chain m/0, with a private key at its parent
test('a child of the test vectors of BIP 32 is found', () => {
  const master = HDKey.fromExtendedKey(
    'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB',
  );
  const child = HDKey.fromExtendedKey(
    'xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH',
  );
  expect(Buffer.from(publicChild(parentOf(master), 0)!)).toEqual(Buffer.from(child.publicKey!));
});

test('a child has the public key that HDKey derives, with the private key and without it', () => {
  fc.assert(
    fc.property(seeds, indices, (seed, index) => {
      const parent = HDKey.fromMasterSeed(seed);
      const derived = Buffer.from(publicChild(parentOf(parent), index)!).toString('hex');
      const withoutSecret = HDKey.fromExtendedKey(parent.publicExtendedKey);
      expect(derived).toBe(Buffer.from(parent.deriveChild(index).publicKey!).toString('hex'));
      expect(derived).toBe(Buffer.from(withoutSecret.deriveChild(index).publicKey!).toString('hex'));
    }),
    { numRuns: propertyRuns(50) },
  );
});

test('keys of a seed and of its xpub are those that HDKey derives, on every branch', () => {
  const branches = fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const);
  fc.assert(
    fc.property(seeds, branches, indices, (seed, branch, index) => {
      const { key } = accountOf(seed, 'regtest');
      const expected = Buffer.from(key.deriveChild(branch).deriveChild(index).publicKey!);
      for (const account of [key, publicAccount(key.publicExtendedKey, 'regtest')])
        expect(Buffer.from(new AccountKeys(account).publicKey({ branch, index }))).toEqual(expected);
    }),
    { numRuns: propertyRuns(20) },
  );
});

test.each([-1, 0x8000_0000, 1.5])('an index that is hardened or not an index is refused: %d', (index) => {
  const keys = new AccountKeys(accountOf(new Uint8Array(32).fill(1), 'regtest').key);
  expect(() => keys.publicKey({ branch: 0, index })).toThrow(RangeError);
});

test('a parent that is not a point of the curve is refused', () => {
  expect(() => publicParent(new Uint8Array(32), Uint8Array.of(2, ...new Uint8Array(31), 5))).toThrow(
    TypeError,
  );
});
