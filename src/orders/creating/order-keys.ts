import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { OrderLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { revealLeaf } from '#orders/inscribing/reveal-leaf.ts';
import type { IndexLeases } from '#wallet/indices/index-leases.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';

/** The wallet's keys of an order, and addresses from them. */
export interface OrderKeys {
  readonly wallet: WalletIdentity;
  /**
   * Indices of keys for one order alone: taken before the order's transaction, and confirmed in it. Indices of an order
   * that is not created are never used.
   */
  readonly leases: Pick<IndexLeases, 'take' | 'confirm'>;
  /** Leaves of the order's reveals, and the payment address. Each is proven to be spendable. */
  readonly charge: (keyIndex: number, planned: PlannedOrder) => Promise<Charge>;
  /** The address to which a parent is sent, proven to be spendable. */
  readonly deposit: (keyIndex: number) => Pick<Charge, 'script' | 'address'>;
}

export interface PlannedOrder {
  readonly terms: OrderTerms;
  readonly layout: OrderLayout;
}

export interface Charge {
  readonly leaves: readonly Uint8Array[];
  readonly script: Uint8Array;
  readonly address: string;
}

/** Addresses of orders, derived without the seed. Each is proven to be spendable before it is shown. */
export function orderKeys(wallet: PublicWallet, leases: OrderKeys['leases']): OrderKeys {
  return {
    wallet: wallet.identity,
    leases,
    charge: async (keyIndex, { terms, layout }) => {
      const key = wallet.orderKey(keyIndex);
      const leaves: Uint8Array[] = [];
      // mints spend their outputs by key
      for (const reveal of terms.mint === null ? layout.reveals : []) {
        // proving a leaf of 390 kB takes 10 ms, and an order has up to 150
        if (leaves.length > 0) await nextTurn();
        const leaf = revealLeaf(terms, reveal, key);
        // payments to the wallet are spent by key, so leaves of its commit's outputs are proven here
        if (layout.paidTo === 'wallet') wallet.proveLeaf(keyIndex, leaf);
        leaves.push(leaf);
      }
      const [only = null] = layout.paidTo === 'direct' ? leaves : [];
      const { script, address } = wallet.orderAddress(keyIndex, only);
      return { leaves, script, address };
    },
    deposit: (keyIndex) => {
      const { script, address } = wallet.orderAddress(keyIndex, null);
      return { script, address };
    },
  };
}
