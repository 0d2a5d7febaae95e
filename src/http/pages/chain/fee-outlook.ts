import type { RecommendedFees } from '#http/mempool/recommended-fees.ts';

/** How long a fee rate waits by the node's estimates, in words. Pure. */
export function feeOutlook(feeRate: number, fees: RecommendedFees): string {
  const { fastestFee, halfHourFee, hourFee, economyFee, minimumFee } = fees;
  const by = (rate: number): string => `by the node’s estimate (${rate} sat/vB)`;
  if (feeRate >= fastestFee) return `its fee rate is enough for the next two blocks ${by(fastestFee)}`;
  if (feeRate >= halfHourFee) return `its fee rate is enough for half an hour ${by(halfHourFee)}`;
  if (feeRate >= hourFee) return `its fee rate is enough for an hour ${by(hourFee)}`;
  if (feeRate >= economyFee) return `its fee rate is enough for a day ${by(economyFee)}`;
  if (feeRate >= minimumFee)
    return `its fee rate is below the estimate for a day (${economyFee} sat/vB): it may wait long`;
  return `its fee rate is below what the node takes now (${minimumFee} sat/vB)`;
}
