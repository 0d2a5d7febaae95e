import type { BlockRef } from './block-source.ts';

/** An output that pays a watched script. Hashes are in internal order. */
export interface Payment {
  readonly script: Uint8Array;
  readonly txid: Uint8Array;
  readonly vout: number;
  /** Sats. */
  readonly value: bigint;
}

/**
 * What became of a payment in the node's mempool. A payment that is seen ends in one of the others, or is seen again where
 * a block that it was confirmed in is taken back and the node holds it again: who counts confirmations asks the chain.
 */
export type PaymentEvent =
  | { readonly kind: 'payment-seen'; readonly payment: Payment }
  /** Another transaction took an input of it (or of one that it spends). */
  | { readonly kind: 'payment-replaced'; readonly payment: Payment; readonly replacedBy: Uint8Array }
  | { readonly kind: 'payment-confirmed'; readonly payment: Payment; readonly block: BlockRef }
  /** The node dropped it (expired, too little fee, in conflict with a block), and what took its place was not seen. */
  | { readonly kind: 'payment-evicted'; readonly payment: Payment };

/**
 * Scripts whose unconfirmed payments are reported, within the process that follows the mempool. What is watched before the
 * mempool is followed is found in its first snapshot; what is watched later, from then on: a script is to be watched before
 * anybody is told to pay it. Following begins anew after a failure of node or database: payments that are still there are
 * told to be seen again, of others nothing is told. A payment that was never in the node's mempool is not reported, nor one that was
 * made and mined while nobody followed: whoever must not miss any also looks at the blocks.
 */
export interface WatchedScripts {
  /** Throws a RangeError where there are more than `scriptsMax`. */
  watch(script: Uint8Array): void;
  unwatch(script: Uint8Array): void;
  /** Listeners are called one after the other and must not throw. Returns what ends it. */
  listen(listener: (event: PaymentEvent) => void): () => void;
}
