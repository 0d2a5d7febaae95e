import { nextTurn } from '#kernel/turns.ts';
import type { PublicWallet, WalletAddress } from '#wallet/public-wallet.ts';
import { type Signer, unsignedTransaction } from '#wallet/signer.ts';
import { nextOrderIndex, nextOwnIndex } from '#wallet/wallet.store.ts';
import type { OrderKeys } from './creating/create-order.ts';
import { revealLeaf } from './inscribing/reveal-leaf.ts';
import type { OrderSigner } from './making/sign-and-store.ts';

/** Addresses of orders: derived without the seed, and each proven to be spendable before it is shown. */
export function orderKeys(wallet: PublicWallet): OrderKeys {
  return {
    nextKey: nextOrderIndex,
    nextOwnKey: nextOwnIndex,
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

/** What makes the transactions of orders. */
export function orderSigner(wallet: PublicWallet, signer: Signer): OrderSigner {
  return {
    scriptOf: (own) => wallet.addressOf(own).script,
    unsigned: unsignedTransaction,
    signPlan: (plan) => signer.signPlan(plan),
  };
}
