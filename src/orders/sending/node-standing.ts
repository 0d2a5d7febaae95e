import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';

/** What a node's policy allows, and what it says that transactions cost. Rates are sats for 1,000 virtual bytes. */
export interface NodeStanding {
  /** It relays nothing below this rate. */
  readonly minRelayFeeRate: bigint;
  /** It takes nothing below this rate now: the same, or more while its mempool is full. */
  readonly mempoolMinFeeRate: bigint;
  /** What a replacement pays for its size beyond what it replaces (BIP 125, rule 4). */
  readonly incrementalFeeRate: bigint;
  /** What transactions cost that are mined within some blocks; null: it has no estimate. */
  readonly estimate: bigint | null;
  readonly cluster: ClusterLimits;
}

/** How many unconfirmed transactions may depend on each other, and their virtual bytes together. */
export interface ClusterLimits {
  readonly count: number;
  readonly virtualBytes: number;
}

/** Where the node does not tell: ancestors and descendants before Bitcoin Core 31 (policy.h, DEFAULT_ANCESTOR_LIMIT). */
export const defaultClusterLimits: ClusterLimits = { count: 25, virtualBytes: 101_000 };
/** Sats for 1,000 virtual bytes that every node relays (DEFAULT_MIN_RELAY_TX_FEE before Bitcoin Core 28.3). */
export const usualFeeRate = 1000n;

/** The answers of `getmempoolinfo` and `estimatesmartfee`, as they are understood. Throws `node_answer_invalid`. Pure. */
export function standingOf(mempool: unknown, estimated: unknown): NodeStanding {
  const info = fieldsOf(mempool);
  const minRelayFeeRate = rateOf(info['minrelaytxfee']) ?? usualFeeRate;
  const { count, virtualBytes } = defaultClusterLimits;
  return {
    minRelayFeeRate,
    mempoolMinFeeRate: largest(rateOf(info['mempoolminfee']) ?? minRelayFeeRate, minRelayFeeRate),
    // told from Bitcoin Core 24 on
    incrementalFeeRate: rateOf(info['incrementalrelayfee']) ?? usualFeeRate,
    estimate: rateOf(fieldsOf(estimated)['feerate']),
    // told from Bitcoin Core 31 on
    cluster: {
      count: countOf(info['limitclustercount']) ?? count,
      virtualBytes: countOf(info['limitclustersize']) ?? virtualBytes,
    },
  };
}

/** What a transaction must pay to be mined soon: the estimate, or what the node takes at all. */
export const urgentFeeRate = ({ estimate, mempoolMinFeeRate }: NodeStanding): bigint =>
  largest(estimate ?? 0n, mempoolMinFeeRate);

/** The same for what the service pays itself: never below what every node relays. */
export const refundFeeRate = (standing: NodeStanding): bigint =>
  largest(urgentFeeRate(standing), usualFeeRate);

const rateOf = (amount: unknown): bigint | null =>
  amount === undefined ? null : BigInt(satsOfBitcoins(amount));

const countOf = (count: unknown): number | null =>
  typeof count === 'number' && Number.isInteger(count) && count > 0 ? count : null;

function fieldsOf(answer: unknown): Readonly<Record<string, unknown>> {
  if (typeof answer === 'object' && answer !== null) return answer as Readonly<Record<string, unknown>>;
  throw new AppError('node_answer_invalid', 'The node says nothing of its mempool.');
}
