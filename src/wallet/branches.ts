import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';

/** A branch of keys below the account. Numbers, names and types never change, because addresses depend on them. */
interface WalletBranch {
  readonly number: WalletKey['branch'];
  readonly name: string;
  readonly scriptType: 'p2tr' | 'p2wpkh';
}

/**
 * The branches of a wallet: charges and deposits of orders, the service's own outputs, special sats, and fee charges of
 * token payments. Fee charges are P2WPKH, which every wallet and exchange can pay.
 */
export const walletBranches = [
  { number: 0, name: 'orders', scriptType: 'p2tr' },
  { number: 1, name: 'own', scriptType: 'p2tr' },
  { number: 2, name: 'inventory', scriptType: 'p2tr' },
  { number: 3, name: 'fees', scriptType: 'p2wpkh' },
] as const satisfies readonly WalletBranch[];

/**
 * A branch that hands out each of its indices once. The inventory is not included, because it has a fixed number of
 * addresses.
 */
export type IndexedBranch = Exclude<(typeof walletBranches)[number]['name'], 'inventory'>;

/** Names of the branches that hand out indices, in the order of their numbers. */
export const indexedBranches = ['orders', 'own', 'fees'] as const satisfies readonly IndexedBranch[];

/**
 * Number of addresses of the inventory. The inventory needs few, and all of them are derived to find the address of an
 * output (0.3 s).
 */
export const inventoryAddresses = 100;

/** Whether keys of a branch have P2WPKH outputs, which have no leaf. All other branches have P2TR outputs. */
export const isPublicKeyHashBranch = (branch: WalletKey['branch']): boolean =>
  walletBranches[branch].scriptType === 'p2wpkh';
