import type pg from 'pg';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { OrderLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { revealLeaf } from '#orders/inscribing/reveal-leaf.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import { passOver, takeIndices } from '#wallet/indices/release.store.ts';
import type { PublicWallet, WalletAddress } from '#wallet/public-wallet.ts';

/** Keys of the wallet for an order, and the addresses that are made of them. */
export interface OrderKeys {
  /**
   * Takes keys of the wallet, which no other order gets, in the caller's transaction: for the charge and its deposits,
   * and for outputs of the service's own. The first index of each. Throws `wallet_indices_unreleased`.
   */
  readonly take: (tx: pg.ClientBase, counts: Partial<BranchEnds>) => Promise<BranchEnds>;
  /** Never takes keys of orders below this index any more. */
  readonly passOver: (client: pg.Pool, until: number) => Promise<void>;
  /** The leaves of the order's reveals, and the address that is paid: proven to be spendable. */
  readonly charge: (keyIndex: number, planned: PlannedOrder) => Promise<Charge>;
  /** The address that a parent is sent to: proven to be spendable. */
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

/** Addresses of orders: derived without the seed, and each proven to be spendable before it is shown. */
export function orderKeys(wallet: PublicWallet): OrderKeys {
  return {
    take: takeIndices,
    passOver,
    charge: async (keyIndex, { terms, layout }) => {
      const key = wallet.orderKey(keyIndex);
      const leaves: Uint8Array[] = [];
      // the commit outputs of an order that is paid to the wallet, too
      const commits: WalletAddress[] = [];
      for (const reveal of layout.reveals) {
        // proving a leaf of 390 kB takes 10 ms, and an order has up to 150
        if (leaves.length > 0) await nextTurn();
        const leaf = revealLeaf(terms, reveal, key);
        leaves.push(leaf);
        commits.push(wallet.orderAddress(keyIndex, leaf));
      }
      const paid = layout.paidTo === 'direct' ? commits[0] : undefined;
      const { script, address } = paid ?? wallet.orderAddress(keyIndex, null);
      return { leaves, script, address };
    },
    deposit: (keyIndex) => {
      const { script, address } = wallet.orderAddress(keyIndex, null);
      return { script, address };
    },
  };
}
