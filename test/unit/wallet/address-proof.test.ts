import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { testWallet } from '#test/support/wallet/plans.ts';
import { provesAddress } from '#test/support/wallet/proves-address.ts';
import { toSpendTxid } from '#wallet/address-proof.ts';

const { wallet, signer } = testWallet();
const keys = fc.record({
  branch: fc.constantFrom(0 as const, 1 as const, 3 as const),
  index: fc.nat({ max: 1_000_000 }),
});
const scriptOf = (key: { branch: 0 | 1 | 3; index: number }): Uint8Array =>
  wallet.addressOf({ key, leafScript: null }).script;

describe('a proof of an address', () => {
  test('has the hashes of the vectors of BIP 322', () => {
    const script = Buffer.from('00142b05d564e6a7a33c087f16e0f730d1440123799d', 'hex');
    expect(['', 'Hello World'].map((text) => displayHash(asTxid(toSpendTxid(script, text))))).toEqual([
      'c5680aa69bb8d860bf82d4e9cd3504b55dde018de765a91bb566283c545a99a7',
      'b79d196740ad5217771c1098fc4a4b51e0535c32236c71f1ea4d61a2d603352b',
    ]);
  });

  test('belongs only to its script and message, by another library', () => {
    fc.assert(
      fc.property(keys, fc.string(), fc.string(), (key, message, other) => {
        const proof = signer.proveAddress(key, message);
        expect(provesAddress(scriptOf(key), message, proof)).toBe(true);
        expect(provesAddress(scriptOf(key), other, proof)).toBe(other === message);
        const next = { ...key, index: key.index + 1 };
        expect(provesAddress(scriptOf(next), message, proof)).toBe(false);
      }),
      { numRuns: propertyRuns(5) },
    );
  });

  test('knows a tagged hash as BIP 340 defines it', () => {
    // checks the test's own hash: the tag of BIP 322 twice, and then the message
    const tag = createHash('sha256').update('BIP0322-signed-message').digest();
    const hash = createHash('sha256').update(tag).update(tag).update('Hello World').digest('hex');
    expect(hash).toBe('f0eb03b1a75ac6d9847f55c624a99169b5dccba2a31f5b23bea77ba270de0a7a');
  });
});
