import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';

/** A branch of keys below the account. Numbers, names and types never change: addresses depend on them. */
interface WalletBranch {
  readonly number: WalletKey['branch'];
  readonly name: string;
  readonly scriptType: 'p2tr' | 'p2wpkh';
}

/**
 * The branches of a wallet: charges and deposits of orders, the service's own outputs, special sats, and fee charges of
 * token payments. Fee charges are P2WPKH, which every wallet and exchange pays.
 */
export const walletBranches = [
  { number: 0, name: 'orders', scriptType: 'p2tr' },
  { number: 1, name: 'own', scriptType: 'p2tr' },
  { number: 2, name: 'inventory', scriptType: 'p2tr' },
  { number: 3, name: 'fees', scriptType: 'p2wpkh' },
] as const satisfies readonly WalletBranch[];

/** A branch whose indices are handed out, each once. The inventory has a fixed number of addresses. */
export type IndexedBranch = Exclude<(typeof walletBranches)[number]['name'], 'inventory'>;

/** Names of the branches, in the order of their numbers. */
export const indexedBranches = ['orders', 'own', 'fees'] as const satisfies readonly IndexedBranch[];

/** Addresses of the inventory. It needs few. All of them are derived to find the address of an output (0.3 s). */
export const inventoryAddresses = 100;

/** Whether keys of a branch have P2WPKH outputs, without a leaf. All other branches have P2TR. */
export const isPublicKeyHashBranch = (branch: WalletKey['branch']): boolean =>
  walletBranches[branch].scriptType === 'p2wpkh';
