import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { orderLeaf, testWallet } from '#test/support/wallet/plans.ts';
import { ownScriptOf, parseRecoveryKit, recoveryKit } from '#wallet/recovery-kit.ts';
import { leafHashOf } from '#wallet/taproot.ts';

const { wallet } = testWallet('regtest');

test('a kit names the parts of its address, and survives as JSON', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<0 | 1 | 3>(0, 1, 3),
      fc.nat({ max: 2 ** 31 - 1 }),
      fc.option(fc.uint8Array({ maxLength: 700 })),
      fc.boolean(),
      (branch, index, body, isDeleted) => {
        const key = { branch, index };
        const leafScript = body === null || branch !== 0 ? null : orderLeaf(wallet, index, body);
        const whole = recoveryKit(wallet, { key, leafScript });
        const leafHash = leafScript === null || !isDeleted ? null : leafHashOf(leafScript);
        const kit = leafHash === null ? whole : recoveryKit(wallet, { key, leafScript: null, leafHash });
        // the address is the same whether the leaf exists or was deleted
        expect([kit.address, kit.descriptor]).toEqual([whole.address, whole.descriptor]);
        const read = parseRecoveryKit(JSON.stringify(kit));
        expect(read).toEqual(kit);
        const address = wallet.addressOf(ownScriptOf(read!));
        expect(address.address).toBe(kit.address);
        expect(Buffer.from(address.script).toString('hex')).toBe(kit.script);
      },
    ),
    { numRuns: propertyRuns(30) },
  );
});

test('a kit has the descriptor that Bitcoin Core can watch, and no private key', () => {
  const withLeaf = recoveryKit(wallet, { key: { branch: 0, index: 4 }, leafScript: orderLeaf(wallet, 4) });
  expect(withLeaf.descriptor).toMatch(/^rawtr\([0-9a-f]{64}\)#\w{8}$/u);
  expect(withLeaf.keyPath).toBe("m/86'/1'/0'/0/4");
  const alone = recoveryKit(wallet, { key: { branch: 0, index: 4 }, leafScript: null });
  expect(alone.descriptor).toMatch(/^tr\(\[73c5da0a\/86h\/1h\/0h\]tpub\w+\/0\/4\)#\w{8}$/u);
  const fees = recoveryKit(wallet, { key: { branch: 3, index: 4 }, leafScript: null });
  expect(fees.descriptor).toMatch(/^wpkh\(\[73c5da0a\/86h\/1h\/0h\]tpub\w+\/3\/4\)#\w{8}$/u);
  expect(JSON.stringify([withLeaf, alone, fees])).not.toContain('prv');
});

test('a text that is not a kit gives null', () => {
  const kit = recoveryKit(wallet, { key: { branch: 0, index: 4 }, leafScript: null });
  for (const wrong of [
    { version: 2 },
    { keyPath: "m/86'/1'/0'/0/x" },
    { keyPath: "m/84'/1'/0'/0/4" },
    { keyPath: "m/86'/1'/0'/2/4" },
    { keyPath: "m/86'/1'/0'/4/4" },
    { leafScript: 'abc' },
    { network: 'moon' },
    { script: '0014' },
    { masterFingerprint: 'no' },
  ])
    expect(parseRecoveryKit(JSON.stringify({ ...kit, ...wrong }))).toBeNull();
  for (const text of ['', '{', 'null', '[]', '{}', '7']) expect(parseRecoveryKit(text)).toBeNull();
});
