import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { OrderLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { revealLeaf } from '#orders/inscribing/reveal-leaf.ts';
import type { IndexLeases } from '#wallet/indices/index-leases.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';

/** Takes key indices of the wallet for an order, and derives addresses from them. */
export interface OrderKeys {
  readonly wallet: WalletIdentity;
  /**
   * Leases of key indices. Each index is for one order only. Indices are taken before the database transaction of the
   * order, and confirmed in this transaction. If the order is not created, its indices are never used.
   */
  readonly leases: Pick<IndexLeases, 'take' | 'confirm'>;
  /**
   * Makes the leaves of the order's reveals, and the payment address. Each leaf and the address are proven to be
   * spendable.
   */
  readonly charge: (keyIndex: number, planned: PlannedOrder) => Promise<Charge>;
  /** Makes the address to which a parent is sent. The address is proven to be spendable. */
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

/** Derives addresses of orders without the seed. Each address is proven to be spendable before it is shown. */
export function orderKeys(wallet: PublicWallet, leases: OrderKeys['leases']): OrderKeys {
  return {
    wallet: wallet.identity,
    leases,
    charge: async (keyIndex, { terms, layout }) => {
      const key = wallet.orderKey(keyIndex);
      const leaves: Uint8Array[] = [];
      // mints have no leaves, because they spend the commit's outputs by key
      for (const reveal of terms.mint === null ? layout.reveals : []) {
        // let other work run, because proving a leaf of 390 kB takes 10 ms, and an order has up to 150 leaves
        if (leaves.length > 0) await nextTurn();
        const leaf = revealLeaf(terms, reveal, key);
        // the address of an order that is paid to the wallet has no leaf, so the leaves of the commit's outputs are
        // proven here
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
