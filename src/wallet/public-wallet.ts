import type pg from 'pg';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { OwnScript } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { AccountKeys, publicAccount } from './account-key.ts';
import { accountDescriptor } from './descriptors.ts';
import { spendableFault } from './prove-spendable.ts';
import { type TaprootOutput, taprootOutput } from './taproot.ts';
import { readWallet } from './wallet.store.ts';
import type { WalletIdentity } from './wallet-identity.ts';

/** An address of the wallet, and what its outputs are spent with. */
export interface WalletAddress extends OwnScript, TaprootOutput {
  readonly address: string;
  /** The internal key, which is also that of the leaf. */
  readonly xOnlyKey: Uint8Array;
}

/** The wallet of the database; null where there is none: `satscribe wallet init` makes it. It never changes. */
export async function openPublicWallet(db: pg.Pool | pg.ClientBase): Promise<PublicWallet | null> {
  const row = await readWallet(db);
  return row === null ? null : new PublicWallet(row);
}

/** Addresses of branch 2 that count: an inventory needs few, and all are derived to find whose an output is (0.3 s). */
export const inventoryAddresses = 100;

/** Addresses of the wallet, without its seed. */
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

  /** The x-only key of an order, for its leaf: `<key> OP_CHECKSIG` and envelopes. */
  orderKey(index: number): Uint8Array {
    return this.#keys.xOnlyKey({ branch: 0, index });
  }

  /**
   * The address of an order, with its leaf, or without one where it is paid to the wallet first. The key's index comes
   * from `takeIndices`. Throws `order_unspendable` for an address whose payments could not be spent.
   */
  orderAddress(index: number, leafScript: Uint8Array | null): WalletAddress {
    return this.addressOf({ key: { branch: 0, index }, leafScript });
  }

  /** An address for revenue or change. The key's index comes from `takeIndices`. */
  ownAddress(index: number): WalletAddress {
    return this.addressOf({ key: { branch: 1, index }, leafScript: null });
  }

  /** An address for outputs of the inventory. Below `inventoryAddresses`. */
  inventoryAddress(index: number): WalletAddress {
    return this.addressOf({ key: { branch: 2, index }, leafScript: null });
  }

  /** Throws `order_unspendable`. */
  addressOf(own: OwnScript): WalletAddress {
    const xOnlyKey = this.#keys.xOnlyKey(own.key);
    const output = taprootOutput(xOnlyKey, own);
    const address = scriptToAddress(output.script, networks[this.network]) ?? '';
    const made = { ...own, xOnlyKey, address, ...output };
    proveSpendable(this.network, made);
    return made;
  }

  /** Of all branches, for a watching wallet of Bitcoin Core: orders paid to the wallet, its own, and the inventory. */
  descriptors(): readonly [orders: string, own: string, inventory: string] {
    return [
      accountDescriptor(this.identity, 0),
      accountDescriptor(this.identity, 1),
      accountDescriptor(this.identity, 2),
    ];
  }
}

/**
 * Throws `order_unspendable` where what is paid to an address could not be spent (prove-spendable.ts). Every address
 * that `PublicWallet` gives was proven; for one that was stored, before it is shown again.
 */
export function proveSpendable(
  network: NetworkName,
  address: Pick<
    WalletAddress,
    'address' | 'script' | 'xOnlyKey' | 'leafScript' | 'leafHash' | 'controlBlock'
  >,
): void {
  const fault = spendableFault({ network, ...address });
  if (fault !== null)
    throw new AppError(
      'order_unspendable',
      `The address ${address.address} cannot be shown: what is paid to it could not be spent, because ${fault}.`,
      { fault },
    );
}
