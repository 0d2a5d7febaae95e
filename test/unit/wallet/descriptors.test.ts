import { expect, test } from 'vitest';
import { testWallet } from '#test/support/wallet/plans.ts';
import { withChecksum } from '#wallet/descriptors.ts';

test('the checksum is that of the test vector of BIP 380', () => {
  expect(withChecksum('raw(deadbeef)')).toBe('raw(deadbeef)#89f8spxm');
  expect(() => withChecksum('raw(ü)')).toThrow(RangeError);
});

test('the descriptors of a wallet name its account, with only public keys', () => {
  const [orders, own, inventory, fees] = testWallet('mainnet').wallet.descriptors();
  expect(orders).toMatch(/^tr\(\[73c5da0a\/86h\/0h\/0h\]xpub\w{107}\/0\/\*\)#\w{8}$/u);
  expect(own).toMatch(/^tr\(\[73c5da0a\/86h\/0h\/0h\]xpub\w{107}\/1\/\*\)#\w{8}$/u);
  expect(inventory).toMatch(/^tr\(\[73c5da0a\/86h\/0h\/0h\]xpub\w{107}\/2\/\*\)#\w{8}$/u);
  expect(fees).toMatch(/^wpkh\(\[73c5da0a\/86h\/0h\/0h\]xpub\w{107}\/3\/\*\)#\w{8}$/u);
});
