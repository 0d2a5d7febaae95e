import { payments } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { knownSeed, orderLeaf, testWallet } from '#test/support/wallet/plans.ts';
import { AccountKeys, publicAccount } from '#wallet/account-key.ts';
import { publicKeyHashFault } from '#wallet/prove-spendable.ts';
import { proveSpendable, type TaprootAddress } from '#wallet/public-wallet.ts';

describe('keys and addresses of the wallet', () => {
  test('are those of the test vectors of BIP 86', () => {
    const { wallet } = testWallet('mainnet');
    expect(wallet.identity).toEqual({
      network: 'mainnet',
      masterFingerprint: '73c5da0a',
      accountXpub:
        'xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ',
    });
    const first = wallet.orderAddress(0, null);
    expect(Buffer.from(first.xOnlyKey).toString('hex')).toBe(
      'cc8a4bc64d897bddc5fbc2f670f7a8ba0b386779106cf1223c6fc5d7cd6fc115',
    );
    expect(first.address).toBe('bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr');
    expect(wallet.orderAddress(1, null).address).toBe(
      'bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh',
    );
    expect(wallet.ownAddress(0).address).toBe(
      'bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7',
    );
  });

  test('are the same, no matter how often they are asked for, and whatever a caller does to an answer', () => {
    const { wallet } = testWallet('regtest');
    const keys = new AccountKeys(publicAccount(wallet.identity.accountXpub, 'regtest'));
    // more keys than the cache keeps
    for (let index = 0; index < 300; index++) keys.publicKey({ branch: 0, index }).fill(0);
    for (const index of [0, 1, 150, 298, 299])
      expect(Buffer.from(keys.publicKey({ branch: 0, index })).toString('hex')).toBe(
        Buffer.from(keys.child({ branch: 0, index }).publicKey!).toString('hex'),
      );
  });

  test('of fee charges are P2WPKH under the same account', () => {
    const { wallet } = testWallet('mainnet');
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 31 - 1 }), (index) => {
        const pubkey = publicAccount(wallet.identity.accountXpub, 'mainnet').derive(`m/3/${index}`)
          .publicKey!;
        const { address, output } = payments.p2wpkh({ pubkey });
        const made = wallet.feesAddress(index);
        expect([made.address, Buffer.from(made.script)]).toEqual([address, Buffer.from(output!)]);
      }),
      { numRuns: propertyRuns(20) },
    );
    const key = { branch: 3, index: 1 } as const;
    expect(() => wallet.addressOf({ key, leafScript: orderLeaf(wallet, 1) })).toThrow(/has no leaf/u);
    expect(() => wallet.addressOf({ key, leafScript: null, leafHash: new Uint8Array(32) })).toThrow(
      /has no leaf/u,
    );
  });

  test('of test networks are under coin 1, and belong to no other network', () => {
    const { wallet } = testWallet('regtest');
    expect(wallet.identity.accountXpub).toMatch(/^tpub/u);
    expect(wallet.orderAddress(0, null).address).toMatch(/^bcrt1p/u);
    expect(() => publicAccount(wallet.identity.accountXpub, 'mainnet')).toThrow(Error);
  });

  test('have no index that an xpub does not derive', () => {
    const { wallet } = testWallet();
    for (const index of [-1, 0.5, 2 ** 31, Number.NaN])
      expect(() => wallet.orderKey(index)).toThrow(RangeError);
  });
});

/** A copy of bytes in which one byte is different. */
const changed = (bytes: Uint8Array, place: number): Uint8Array =>
  bytes.map((byte, at) => (at === place % bytes.length ? byte ^ 1 : byte));

describe('the proof that an address can be spent', () => {
  const { wallet } = testWallet('regtest', knownSeed);

  test('holds for every key, with a leaf and without', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 2 ** 31 - 1 }),
        fc.option(fc.uint8Array({ maxLength: 2000 })),
        (index, body) => {
          const leaf = body === null ? null : orderLeaf(wallet, index, body);
          expect(wallet.orderAddress(index, leaf).controlBlock === null).toBe(leaf === null);
        },
      ),
      { numRuns: propertyRuns(30) },
    );
  });

  test('fails for every part that differs', () => {
    const good = wallet.orderAddress(3, orderLeaf(wallet, 3));
    const parts = ['script', 'xOnlyKey', 'leafScript', 'controlBlock'] as const;
    fc.assert(
      fc.property(fc.constantFrom(...parts), fc.nat(), (part, place) => {
        const wrong: TaprootAddress = { ...good, [part]: changed(good[part]!, place) };
        expect(() => proveSpendable('regtest', wrong)).toThrow(/could not be spent/u);
      }),
      { numRuns: propertyRuns(100) },
    );
    const other = wallet.orderAddress(4, null);
    for (const wrong of [{ address: other.address }, { controlBlock: null }, { leafScript: null }])
      expect(() => proveSpendable('regtest', { ...good, ...wrong })).toThrow(/could not be spent/u);
    expect(() => proveSpendable('mainnet', good)).toThrow(/could not be spent/u);
  });

  test('fails for every part of a fee charge that differs', () => {
    const good = { network: 'regtest' as const, publicKey: new Uint8Array(33), ...wallet.feesAddress(3) };
    const { publicKey } = new AccountKeys(publicAccount(wallet.identity.accountXpub, 'regtest')).child({
      branch: 3,
      index: 3,
    });
    expect(publicKeyHashFault({ ...good, publicKey: publicKey! })).toBeNull();
    const { address } = wallet.feesAddress(4);
    for (const wrong of [
      { publicKey: changed(publicKey!, 5) },
      { publicKey: new Uint8Array(33) },
      { publicKey: publicKey!.slice(1) },
      { publicKey: publicKey!, address },
      { publicKey: publicKey!, script: changed(good.script, 9) },
      { publicKey: publicKey!, script: wallet.ownAddress(3).script },
      { publicKey: publicKey!, leafScript: orderLeaf(wallet, 3) },
    ])
      expect(publicKeyHashFault({ ...good, ...wrong })).toEqual(expect.any(String));
  });

  test('fails for a leaf of another key, which the wallet would commit to without it', () => {
    expect(() => wallet.orderAddress(3, orderLeaf(wallet, 4))).toThrow(/something other than the key/u);
    expect(() => wallet.proveLeaf(3, orderLeaf(wallet, 4))).toThrow(/something other than the key/u);
    expect(wallet.proveLeaf(3, orderLeaf(wallet, 3))).toBeUndefined();
  });
});
