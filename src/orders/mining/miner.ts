import type { Txid } from '#kernel/primitives/hash.ts';

/** Planned size and fee of a transaction. */
export interface OfferedTransaction {
  readonly weight: number;
  /** Fee in sats. */
  readonly fee: bigint;
}

/** A reveal above the standard weight that an order would need, with its commit. */
export interface RevealOffer {
  readonly commit: OfferedTransaction;
  readonly reveal: OfferedTransaction;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

/** Signed transactions to be mined together. */
export interface MinerPackage {
  /** Txid of the reveal, which identifies the package. */
  readonly reveal: Txid;
  /** The signed commit, then the signed reveal. */
  readonly transactions: readonly [Uint8Array, Uint8Array];
}

/**
 * A reply of a miner. `silent` means that there was no valid reply of the protocol. Silence is never treated as
 * consent. Texts are bounded and printable.
 */
export type MinerAnswer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'silent'; readonly why: string };

/** The miner at NONSTANDARD_MINER_URL (docs/miner.md). Both functions throw only the reason of the signal. */
export interface Miner {
  /** Asks whether the miner would mine a reveal of this size at this rate. */
  readonly offer: (offer: RevealOffer, signal: AbortSignal) => Promise<MinerAnswer>;
  /** Hands a package over. The same package may be handed over again. */
  readonly hand: (handed: MinerPackage, signal: AbortSignal) => Promise<MinerAnswer>;
}
