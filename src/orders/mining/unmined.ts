import type { Txid } from '#kernel/primitives/hash.ts';

/** A reveal that is sent directly to a miner, with its commit. */
export interface StoredPackage {
  readonly reveal: Txid;
  readonly hours: number;
  /**
   * End of the miner's time to reply. After the miner has accepted, it is the end of the miner's time to mine the
   * reveal.
   */
  readonly minedUntil: Date;
  readonly acceptedAt: Date | null;
  /** The miner's reason for a refusal. Null if the miner did not refuse. */
  readonly refusal: string | null;
  /** The time when the reveal was given up. A block that contains the reveal is still accepted. */
  readonly givenUpAt: Date | null;
  /** Whether the index has the reveal in a block. */
  readonly isMined: boolean;
}

/** The reason why a reveal is given up, for its customer. Null if the reveal is mined, or may still be mined. Pure. */
export function unminedReason(
  { isMined, refusal, minedUntil, acceptedAt, hours }: StoredPackage,
  now: Date,
): string | null {
  if (isMined) return null;
  if (refusal !== null) return `The miner refused the transaction: ${refusal}`;
  if (now <= minedUntil) return null;
  return acceptedAt === null
    ? `The miner did not answer within ${hours} hours, so nothing was inscribed.`
    : `The miner accepted the transaction, but did not mine it within ${hours} hours.`;
}
