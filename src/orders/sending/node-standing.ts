import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';

/** A node's policy and its fee estimate. Rates are in sats per 1,000 virtual bytes. */
export interface NodeStanding {
  /** Minimum fee rate that the node ever relays. */
  readonly minRelayFeeRate: bigint;
  /**
   * Minimum fee rate that the node accepts now. It equals `minRelayFeeRate`, or is higher while the mempool is full.
   */
  readonly mempoolMinFeeRate: bigint;
  /** Rate that a replacement must pay for its own size, in addition to the replaced fee (BIP 125, rule 4). */
  readonly incrementalFeeRate: bigint;
  /**
   * Fee rate with which transactions are mined within the target number of blocks, or null if the node has no estimate.
   */
  readonly estimate: bigint | null;
  readonly cluster: ClusterLimits;
}

/**
 * Limits of a cluster: the maximum number of unconfirmed transactions that depend on each other, and the maximum of
 * their total virtual bytes.
 */
export interface ClusterLimits {
  readonly count: number;
  readonly virtualBytes: number;
}

/**
 * Limits for a node that does not report its limits. They are the limits for ancestors and descendants before Bitcoin
 * Core 31 (policy.h, DEFAULT_ANCESTOR_LIMIT).
 */
export const defaultClusterLimits: ClusterLimits = { count: 25, virtualBytes: 101_000 };
/**
 * Fee rate that every node relays, in sats per 1,000 virtual bytes (DEFAULT_MIN_RELAY_TX_FEE before Bitcoin Core 28.3).
 */
export const usualFeeRate = 1000n;

/**
 * Computes the state of the node from the results of `getmempoolinfo` and `estimatesmartfee`. Throws
 * `node_answer_invalid`. Pure.
 */
export function standingOf(mempool: unknown, estimated: unknown): NodeStanding {
  const info = fieldsOf(mempool);
  const minRelayFeeRate = rateOf(info['minrelaytxfee']) ?? usualFeeRate;
  const { count, virtualBytes } = defaultClusterLimits;
  return {
    minRelayFeeRate,
    mempoolMinFeeRate: largest(rateOf(info['mempoolminfee']) ?? minRelayFeeRate, minRelayFeeRate),
    // reported since Bitcoin Core 24
    incrementalFeeRate: rateOf(info['incrementalrelayfee']) ?? usualFeeRate,
    estimate: rateOf(fieldsOf(estimated)['feerate']),
    // reported since Bitcoin Core 31
    cluster: {
      count: countOf(info['limitclustercount']) ?? count,
      virtualBytes: countOf(info['limitclustersize']) ?? virtualBytes,
    },
  };
}

/** Fee rate with which a transaction is mined soon: the estimate, but at least the node's current minimum. */
export const urgentFeeRate = ({ estimate, mempoolMinFeeRate }: NodeStanding): bigint =>
  largest(estimate ?? 0n, mempoolMinFeeRate);

/** Fee rate of transactions that the service pays for: the urgent rate, but at least a rate that every node relays. */
export const refundFeeRate = (standing: NodeStanding): bigint =>
  largest(urgentFeeRate(standing), usualFeeRate);

const rateOf = (amount: unknown): bigint | null =>
  amount === undefined ? null : BigInt(satsOfBitcoins(amount));

const countOf = (count: unknown): number | null =>
  typeof count === 'number' && Number.isInteger(count) && count > 0 ? count : null;

function fieldsOf(answer: unknown): Readonly<Record<string, unknown>> {
  if (typeof answer === 'object' && answer !== null) return answer as Readonly<Record<string, unknown>>;
  throw new AppError('node_answer_invalid', 'The node did not describe its mempool.');
}
