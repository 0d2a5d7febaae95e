import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';

/** Fees in whole sats per virtual byte, as public clients expect. */
export interface RecommendedFees {
  readonly fastestFee: number;
  readonly halfHourFee: number;
  readonly hourFee: number;
  readonly economyFee: number;
  readonly minimumFee: number;
}

/**
 * Number of blocks within which a transaction should be mined, for each fee. The minimum is 2, because the node has no
 * estimate for one block.
 */
const targets = { fastestFee: 2, halfHourFee: 3, hourFee: 6, economyFee: 144 } as const;
/**
 * How long estimates are used, in ms. The node's estimates change with each block, and its minimum fee within seconds.
 */
const freshMs = 10_000;

/**
 * Fee rates from the node's estimates and from the minimum of its mempool. The node is queried at most once in ten
 * seconds, for all clients together.
 */
export class FeeEstimates {
  readonly #node: NodeRpc;
  #fees: Promise<RecommendedFees> | null = null;
  #askedAt = 0;

  constructor(node: NodeRpc) {
    this.#node = node;
  }

  /** Returns the fees. Throws the error codes of NodeRpc. */
  recommended(): Promise<RecommendedFees> {
    const now = performance.now();
    if (this.#fees !== null && now - this.#askedAt < freshMs) return this.#fees;
    this.#askedAt = now;
    const asked = this.#ask();
    this.#fees = asked;
    asked.catch(() => {
      // forget the failure, so that the next request queries the node again
      if (this.#fees === asked) this.#fees = null;
    });
    return asked;
  }

  async #ask(): Promise<RecommendedFees> {
    const { mempoolminfee, minrelaytxfee } = await this.#node.call<{
      readonly mempoolminfee: number;
      readonly minrelaytxfee: number;
    }>('getmempoolinfo');
    const minimumFee = Math.max(satsPerVbyte(mempoolminfee), satsPerVbyte(minrelaytxfee), 1);
    // a faster target must not have a lower rate than a slower one; this can happen, because the node estimates each
    // target separately
    const economyFee = Math.max(minimumFee, await this.#estimate(targets.economyFee));
    const hourFee = Math.max(economyFee, await this.#estimate(targets.hourFee));
    const halfHourFee = Math.max(hourFee, await this.#estimate(targets.halfHourFee));
    const fastestFee = Math.max(halfHourFee, await this.#estimate(targets.fastestFee));
    return { fastestFee, halfHourFee, hourFee, economyFee, minimumFee };
  }

  /** The estimate for a number of blocks. 0 if the node has seen too few transactions. */
  async #estimate(blocks: number): Promise<number> {
    const { feerate } = await this.#node.call<{ readonly feerate?: number }>('estimatesmartfee', [
      blocks,
      'economical',
    ]);
    return feerate === undefined ? 0 : satsPerVbyte(feerate);
  }
}

/**
 * Converts a rate in bitcoins per 1,000 virtual bytes. Rounds up, because nodes would not relay a transaction below the
 * minimum.
 */
function satsPerVbyte(feerate: number): number {
  return Math.ceil(satsOfBitcoins(feerate) / 1000);
}
