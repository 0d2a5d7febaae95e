import type pg from 'pg';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { OwnScript } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { AccountKeys, publicAccount } from './account-key.ts';
import { isPublicKeyHashBranch, walletBranches } from './branches.ts';
import { accountDescriptor } from './descriptors.ts';
import { leafFault } from './leaf-script.ts';
import { publicKeyHashFault, spendableFault } from './prove-spendable.ts';
import { publicKeyHashScript } from './public-key-hash.ts';
import { type TaprootOutput, taprootOutput } from './taproot.ts';
import { readWallet, walletMissing } from './wallet.store.ts';
import type { WalletIdentity } from './wallet-identity.ts';

/** An address of the wallet, with the key and the leaf that spend its outputs. */
export interface WalletAddress extends OwnScript {
  readonly address: string;
  readonly script: Uint8Array;
}

/** A P2TR address of the wallet. All branches except the branch of fee charges have such addresses. */
export interface TaprootAddress extends WalletAddress, TaprootOutput {
  /** The internal key, which is also the key in the leaf. */
  readonly xOnlyKey: Uint8Array;
}

/**
 * Opens the wallet of the database, which never changes. Returns null if there is no wallet yet; `satscribe wallet
 * init` creates it.
 */
export async function openPublicWallet(db: pg.Pool | pg.ClientBase): Promise<PublicWallet | null> {
  const row = await readWallet(db);
  return row === null ? null : new PublicWallet(row);
}

/** Opens the wallet of the database. Throws `wallet_missing`. */
export async function requirePublicWallet(db: pg.Pool | pg.ClientBase): Promise<PublicWallet> {
  const wallet = await openPublicWallet(db);
  if (wallet === null) throw walletMissing();
  return wallet;
}

/** Makes addresses of the wallet without its seed. */
export class PublicWallet {
  readonly identity: WalletIdentity;
  readonly #keys: AccountKeys;

  constructor(identity: WalletIdentity) {
    this.identity = identity;
    this.#keys = new AccountKeys(publicAccount(identity.accountXpub, identity.network));
  }

  get network(): NetworkName {
    return this.identity.network;
  }

  /** The x-only key of an order. The order's leaf starts with it: `<key> OP_CHECKSIG`, and envelopes follow. */
  orderKey(index: number): Uint8Array {
    return this.#keys.xOnlyKey({ branch: 0, index });
  }

  /**
   * Makes the address of an order, with its leaf. If `leafScript` is null, the address has no leaf, because the order
   * is first paid to the wallet. The key's index comes from `takeIndices`. Throws `order_unspendable` if payments to
   * the address could not be spent.
   */
  orderAddress(index: number, leafScript: Uint8Array | null): TaprootAddress {
    return this.#taprootAddress({ key: { branch: 0, index }, leafScript });
  }

  /**
   * Throws `order_unspendable` if the key of an order could not spend the leaf. Checks only the leaf, because nothing
   * else depends on contents. The output is proven from hashes when it is planned (`addressOf`).
   */
  proveLeaf(index: number, leafScript: Uint8Array): void {
    requireSpendable('of a commit', leafFault(leafScript, this.orderKey(index)));
  }

  /** Makes an address for revenue or change. The key's index comes from `takeIndices`. */
  ownAddress(index: number): TaprootAddress {
    return this.#taprootAddress({ key: { branch: 1, index }, leafScript: null });
  }

  /** Makes an address for outputs of the inventory. The index must be below `inventoryAddresses`. */
  inventoryAddress(index: number): TaprootAddress {
    return this.#taprootAddress({ key: { branch: 2, index }, leafScript: null });
  }

  /** Makes a P2WPKH address for a fee charge. The key's index comes from `takeIndices`. */
  feesAddress(index: number): WalletAddress {
    return this.addressOf({ key: { branch: 3, index }, leafScript: null });
  }

  /** Makes the address of a key in any branch, with its leaf if it has one. Throws `order_unspendable`. */
  addressOf(own: OwnScript): WalletAddress {
    return isPublicKeyHashBranch(own.key.branch)
      ? this.#publicKeyHashAddress(own)
      : this.#taprootAddress(own);
  }

  #publicKeyHashAddress(own: OwnScript): WalletAddress {
    const publicKey = this.#keys.publicKey(own.key);
    const script = publicKeyHashScript(publicKey);
    const address = scriptToAddress(script, networks[this.network]) ?? '';
    const made = { ...own, address, script };
    requireSpendable(address, publicKeyHashFault({ network: this.network, publicKey, ...made }));
    return made;
  }

  #taprootAddress(own: OwnScript): TaprootAddress {
    const xOnlyKey = this.#keys.xOnlyKey(own.key);
    const output = taprootOutput(xOnlyKey, own);
    const address = scriptToAddress(output.script, networks[this.network]) ?? '';
    const made = { ...own, xOnlyKey, address, ...output };
    proveSpendable(this.network, made);
    return made;
  }

  /**
   * Descriptors of all branches, sorted by branch number, for a watch-only wallet of Bitcoin Core. They describe
   * addresses without a leaf.
   */
  descriptors(): readonly [orders: string, own: string, inventory: string, fees: string] {
    const [orders, own, inventory, fees] = walletBranches;
    const of = ({ number }: (typeof walletBranches)[number]): string =>
      accountDescriptor(this.identity, number);
    return [of(orders), of(own), of(inventory), of(fees)];
  }
}

/**
 * Throws `order_unspendable` if payments to an address could not be spent (prove-spendable.ts). `PublicWallet` returns
 * only proven addresses. A stored address must be proven again before it is shown.
 */
export function proveSpendable(
  network: NetworkName,
  address: Pick<
    TaprootAddress,
    'address' | 'script' | 'xOnlyKey' | 'leafScript' | 'leafHash' | 'controlBlock'
  >,
): void {
  requireSpendable(address.address, spendableFault({ network, ...address }));
}

function requireSpendable(address: string, fault: string | null): void {
  if (fault !== null)
    throw new AppError(
      'order_unspendable',
      `The address ${address} cannot be shown, because payments to it could not be spent: ${fault}.`,
      { fault },
    );
}
