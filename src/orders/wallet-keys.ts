import type { PublicWallet } from '#wallet/public-wallet.ts';
import { type Signer, unsignedTransaction } from '#wallet/signer.ts';
import { nextOrderIndex, nextOwnIndex } from '#wallet/wallet.store.ts';
import type { OrderKeys } from './create-order.ts';
import { revealLeaf } from './inscribing/reveal-leaf.ts';
import type { OrderSigner } from './make-transactions.ts';

/** Addresses of orders: derived without the seed, and each proven to be spendable before it is shown. */
export function orderKeys(wallet: PublicWallet): OrderKeys {
  return {
    nextKey: nextOrderIndex,
    nextOwnKey: nextOwnIndex,
    charge: (keyIndex, { terms, layout }) => {
      const key = wallet.orderKey(keyIndex);
      const leaves = layout.reveals.map((reveal) => revealLeaf(terms, reveal, key));
      // the commit outputs of an order that is paid to the wallet, too
      const commits = leaves.map((leaf) => wallet.orderAddress(keyIndex, leaf));
      const paid = layout.paidTo === 'direct' ? commits[0] : undefined;
      const { script, address } = paid ?? wallet.orderAddress(keyIndex, null);
      return { leaves, script, address };
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
