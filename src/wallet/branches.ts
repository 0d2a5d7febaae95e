import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';

/** A branch of keys below the account. Its number, name and type never change, because addresses depend on them. */
interface WalletBranch {
  readonly number: WalletKey['branch'];
  readonly name: string;
  readonly scriptType: 'p2tr' | 'p2wpkh';
}

/**
 * The branches of a wallet: charges and deposits of orders, the service's own outputs, special sats, and fee charges of
 * token payments. Fee charges are P2WPKH, because every wallet and exchange can pay such addresses.
 */
export const walletBranches = [
  { number: 0, name: 'orders', scriptType: 'p2tr' },
  { number: 1, name: 'own', scriptType: 'p2tr' },
  { number: 2, name: 'inventory', scriptType: 'p2tr' },
  { number: 3, name: 'fees', scriptType: 'p2wpkh' },
] as const satisfies readonly WalletBranch[];

/**
 * Names of branches that hand out each index only once. The inventory is not included, because it has a fixed number of
 * addresses.
 */
export type IndexedBranch = Exclude<(typeof walletBranches)[number]['name'], 'inventory'>;

/** Names of the branches that hand out indices, sorted by branch number. */
export const indexedBranches = ['orders', 'own', 'fees'] as const satisfies readonly IndexedBranch[];

/**
 * Number of addresses of the inventory. The inventory needs only a few. All of them are derived to find the address of
 * an output, which takes 0.3 s.
 */
export const inventoryAddresses = 100;

/**
 * Whether keys of a branch have P2WPKH outputs, which cannot have a leaf. Keys of all other branches have P2TR outputs.
 */
export const isPublicKeyHashBranch = (branch: WalletKey['branch']): boolean =>
  walletBranches[branch].scriptType === 'p2wpkh';
