import { Pauses } from '#kernel/concurrency/work-in-steps.ts';
import { ownAsker } from '#kernel/contracts/asker.ts';
import type { Holdings } from '#kernel/contracts/holdings.ts';
import type { OwnScript, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { unsignedTransaction } from '#wallet/encode-transaction.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';
import type { Signer } from '#wallet/signer.ts';

/** The wallet's part in orders. The keys are in `src/wallet`. */
export interface OrderSigner {
  /** The script of a key with a leaf, or of only the key. */
  readonly scriptOf: (own: OwnScript) => Uint8Array;
  /** The bytes that a txid covers, up to and including the lock time, and the txid. Signing changes neither. */
  readonly unsigned: (plan: TransactionPlan) => { readonly bytes: Uint8Array; readonly txid: Txid };
  /**
   * Signs in turns of the event loop, so that a thousand inputs block nothing else.
   *
   * @param held contents by input, from other sources than the planner
   */
  readonly signPlan: (
    plan: TransactionPlan,
    held: readonly Holdings[],
  ) => Promise<{
    readonly bytes: Uint8Array;
    readonly txid: Txid;
    readonly fee: bigint;
    /** Contents by output. */
    readonly holdings: readonly Holdings[];
  }>;
}

/** Makes the signer for transactions of orders. */
export function orderSigner(wallet: PublicWallet, signer: Signer): OrderSigner {
  return {
    scriptOf: (own) => wallet.addressOf(own).script,
    unsigned: unsignedTransaction,
    signPlan: (plan, held) => new Pauses(ownAsker('signing')).run(signer.signing(plan, held)),
  };
}
