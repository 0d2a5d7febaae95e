import type { Txid } from '#kernel/primitives/hash.ts';

/** A reveal that a miner takes directly, with its commit. */
export interface StoredPackage {
  readonly reveal: Txid;
  readonly hours: number;
  /** First the end of the miner's time to answer, then the end of the time to be in a block. */
  readonly minedUntil: Date;
  readonly acceptedAt: Date | null;
  /** The miner's reason to refuse it; null: not refused. */
  readonly refusal: string | null;
  /** The reveal was given up. A block that has it still counts. */
  readonly givenUpAt: Date | null;
  /** The index has the reveal in a block. */
  readonly isMined: boolean;
}

/** The reason why a reveal is given up, for its customer; null: it is mined, or may still be. Pure. */
export function unminedReason(
  { isMined, refusal, minedUntil, acceptedAt, hours }: StoredPackage,
  now: Date,
): string | null {
  if (isMined) return null;
  if (refusal !== null) return `The miner refused the transaction: ${refusal}`;
  if (now <= minedUntil) return null;
  return acceptedAt === null
    ? `The miner did not answer within ${hours} hours, so nothing was inscribed.`
    : `The miner accepted the transaction, but no block had it within ${hours} hours.`;
}
