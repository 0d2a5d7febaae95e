import type { RecommendedFees } from '#http/mempool/recommended-fees.ts';
import { grouped } from '#web/format.ts';

/** The expected wait at a fee rate, from the node's estimates, in words. Pure. */
export function feeOutlook(feeRate: number, fees: RecommendedFees): string {
  const { fastestFee, halfHourFee, hourFee, economyFee, minimumFee } = fees;
  const by = (rate: number): string => `by the node’s estimate (${rate} sat/vB)`;
  if (feeRate >= fastestFee) return `its fee rate is enough for the next two blocks ${by(fastestFee)}`;
  if (feeRate >= halfHourFee) return `its fee rate is enough for half an hour ${by(halfHourFee)}`;
  if (feeRate >= hourFee) return `its fee rate is enough for an hour ${by(hourFee)}`;
  if (feeRate >= economyFee) return `its fee rate is enough for a day ${by(economyFee)}`;
  if (feeRate >= minimumFee)
    return `its fee rate is below the estimate for a day (${economyFee} sat/vB), so it may wait long`;
  return `its fee rate is below the node’s minimum (${minimumFee} sat/vB)`;
}

/**
 * Maximum number of virtual bytes of transactions in a block. It is the block's limit without the header and the
 * coinbase (8,000 weight units).
 */
const roomOfBlock = (4_000_000 - 8_000) / 4;

/**
 * Number of pending inscriptions, and of pending inscriptions that pay the fee rate of the next two blocks. Both counts
 * stop at a bound.
 */
export interface PayingCount {
  readonly count: number;
  readonly paying: number;
  readonly countedMax: number;
}

/** The number of pending inscriptions that the next blocks would contain, in words. Pure. */
export function nextBlockOutlook(
  { count, paying, countedMax }: PayingCount,
  { fastestFee }: RecommendedFees,
  vsize: number,
): string {
  const isMore = count > countedMax;
  const all = isMore ? `${grouped(countedMax)} or more` : grouped(count);
  if (vsize <= roomOfBlock)
    return count === 0
      ? 'all pending transactions fit into it'
      : `all pending transactions fit into it, with ${all} ${count === 1 ? 'inscription' : 'inscriptions'}`;
  const share = isMore ? `${grouped(Math.min(paying, countedMax))} of the first` : `${grouped(paying)} of`;
  const named = count === 1 ? 'pending inscription pays' : 'pending inscriptions pay';
  return `${share} ${grouped(Math.min(count, countedMax))} ${named} for the next two (${fastestFee} sat/vB or more by the node’s estimate)`;
}
