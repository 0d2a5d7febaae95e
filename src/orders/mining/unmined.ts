import type { Txid } from '#kernel/primitives/hash.ts';

/** A reveal that a miner takes directly, with its commit. */
export interface StoredPackage {
  readonly reveal: Txid;
  readonly hours: number;
  /** Until when the miner may answer, then until when a block must have the reveal. */
  readonly minedUntil: Date;
  readonly acceptedAt: Date | null;
  /** Why the miner refused it; null: it did not. */
  readonly refusal: string | null;
  /** The reveal was given up; what a block has counts all the same. */
  readonly givenUpAt: Date | null;
  /** The index has the reveal in a block. */
  readonly isMined: boolean;
}

/**
 * Why a reveal is given up, for its customer; null: it is not, as a block has it, or may still have it. Pure.
 */
export function unminedReason(
  { isMined, refusal, minedUntil, acceptedAt, hours }: StoredPackage,
  now: Date,
): string | null {
  if (isMined) return null;
  if (refusal !== null) return `The miner refused the transaction: ${refusal}`;
  if (now <= minedUntil) return null;
  return acceptedAt === null
    ? `The miner did not answer within ${hours} hours, so nothing was inscribed.`
    : `The miner accepted the transaction, and no block had it within ${hours} hours.`;
}
