import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';

/** Whole sats per virtual byte, as public clients of fee estimates expect them. */
export interface RecommendedFees {
  readonly fastestFee: number;
  readonly halfHourFee: number;
  readonly hourFee: number;
  readonly economyFee: number;
  readonly minimumFee: number;
}

/** Blocks within which a transaction shall be mined. The node estimates none for a single one. */
const targets = { fastestFee: 2, halfHourFee: 3, hourFee: 6, economyFee: 144 } as const;
/** Estimates change with blocks, and minimum fees within seconds at most. */
const freshMs = 10_000;

/**
 * Fees by the node's own estimates, and by what its mempool takes at least. Asked once in ten seconds, whoever asks.
 */
export class FeeEstimates {
  readonly #node: NodeRpc;
  #fees: Promise<RecommendedFees> | null = null;
  #askedAt = 0;

  constructor(node: NodeRpc) {
    this.#node = node;
  }

  /** Throws the codes of NodeRpc. */
  recommended(): Promise<RecommendedFees> {
    const now = performance.now();
    if (this.#fees !== null && now - this.#askedAt < freshMs) return this.#fees;
    this.#askedAt = now;
    const asked = this.#ask();
    this.#fees = asked;
    asked.catch(() => {
      // the next one asks again
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
    // whoever waits less pays no less: the node estimates each target by itself
    const economyFee = Math.max(minimumFee, await this.#estimate(targets.economyFee));
    const hourFee = Math.max(economyFee, await this.#estimate(targets.hourFee));
    const halfHourFee = Math.max(hourFee, await this.#estimate(targets.halfHourFee));
    const fastestFee = Math.max(halfHourFee, await this.#estimate(targets.fastestFee));
    return { fastestFee, halfHourFee, hourFee, economyFee, minimumFee };
  }

  /** 0: the node has seen too few transactions to estimate. */
  async #estimate(blocks: number): Promise<number> {
    const { feerate } = await this.#node.call<{ readonly feerate?: number }>('estimatesmartfee', [
      blocks,
      'economical',
    ]);
    return feerate === undefined ? 0 : satsPerVbyte(feerate);
  }
}

/** From bitcoins per 1,000 virtual bytes. Rounded up: less than the minimum would not be relayed. */
function satsPerVbyte(feerate: number): number {
  return Math.ceil(satsOfBitcoins(feerate) / 1000);
}
