import { HDKey } from '@scure/bip32';
import { LRUCache } from 'lru-cache';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { type PublicParent, publicChild, publicParent } from './public-child.ts';

/** Version bytes of extended keys (BIP 32): xprv and xpub on mainnet, tprv and tpub on all test networks. */
const mainVersions = { private: 0x0488_ade4, public: 0x0488_b21e };
const testVersions = { private: 0x0435_8394, public: 0x0435_87cf };

const versionsOf = (network: NetworkName) => (network === 'mainnet' ? mainVersions : testVersions);

/** Path of the account. Coin 0 is Bitcoin, and coin 1 is used for all test networks (SLIP 44). */
const accountPath = (network: NetworkName): readonly [number, number, number] => [
  86,
  network === 'mainnet' ? 0 : 1,
  0,
];

/** The path of the account (BIP 86) in the notation of descriptors: `86h/0h/0h`. */
export const accountOrigin = (network: NetworkName): string =>
  accountPath(network)
    .map((step) => `${step}h`)
    .join('/');

/** The account of a seed, with its private key. */
export interface Account {
  readonly key: HDKey;
  /** First four bytes of the hash of the master key, in hex. They identify the seed. */
  readonly fingerprint: string;
}

export function accountOf(seed: Uint8Array, network: NetworkName): Account {
  const master = HDKey.fromMasterSeed(seed, versionsOf(network));
  const path = accountPath(network).map((step) => `${step}'`);
  return {
    key: master.derive(`m/${path.join('/')}`),
    fingerprint: master.fingerprint.toString(16).padStart(8, '0'),
  };
}

/** Makes the account from an xpub of the network, without a private key. Throws if the text is not such an xpub. */
export const publicAccount = (xpub: string, network: NetworkName): HDKey =>
  HDKey.fromExtendedKey(xpub, versionsOf(network));

/**
 * Maximum number of cached public keys. An order of 150 reveals needs its key once for each reveal and once for its
 * address. A derivation takes half a millisecond.
 */
const rememberedMax = 256;

/** Keys below an account, with or without private keys. */
export class AccountKeys {
  readonly #publicKeys = new LRUCache<string, Uint8Array>({ max: rememberedMax });
  readonly #branches: readonly [Branch, Branch, Branch, Branch];

  constructor(account: HDKey) {
    this.#branches = [
      branchOf(account.deriveChild(0)),
      branchOf(account.deriveChild(1)),
      branchOf(account.deriveChild(2)),
      branchOf(account.deriveChild(3)),
    ];
  }

  /** Returns the key at an index. Throws if the index is hardened or not an integer. */
  child({ branch, index }: WalletKey): HDKey {
    requireUnhardened(index);
    return this.#branches[branch].key.deriveChild(index);
  }

  /** Returns the compressed public key of a key. */
  publicKey(key: WalletKey): Uint8Array {
    const name = `${key.branch}/${key.index}`;
    const known = this.#publicKeys.get(name);
    if (known !== undefined) return known.slice();
    requireUnhardened(key.index);
    // if BIP 32 has no key at this index, accounts with and without private keys both use the key that `child` returns
    // instead
    const publicKey = publicChild(this.#branches[key.branch].parent, key.index) ?? this.child(key).publicKey;
    if (publicKey === null) throw new Error('a key of an account has a public key');
    this.#publicKeys.set(name, publicKey);
    return publicKey.slice();
  }

  /** Returns the public key in the form that Taproot uses, which is only the x coordinate (BIP 340). */
  xOnlyKey(key: WalletKey): Uint8Array {
    return this.publicKey(key).slice(1);
  }
}

/** A branch of an account, with its parent key. Public keys are derived from the parent key. */
interface Branch {
  readonly key: HDKey;
  readonly parent: PublicParent;
}

function branchOf(key: HDKey): Branch {
  const { chainCode, publicKey } = key;
  if (chainCode === null || publicKey === null) throw new Error('a branch has a chain code and a public key');
  return { key, parent: publicParent(chainCode, publicKey) };
}

const unhardenedMax = 0x7fff_ffff;

function requireUnhardened(index: number): void {
  if (!Number.isInteger(index) || index < 0 || index > unhardenedMax)
    throw new RangeError(`${index} is not an index of a key that an xpub derives`);
}
